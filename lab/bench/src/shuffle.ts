/** Puts things in another order each time; the same orders for the same seed. */
export function shuffler(seed: number): <T>(things: readonly T[]) => T[] {
  const random = randomNumbers(seed);
  return (things) => {
    const shuffled = [...things];
    for (let index = shuffled.length - 1; index > 0; index--) {
      const other = Math.floor(random() * (index + 1));
      [shuffled[index], shuffled[other]] = [shuffled[other] as never, shuffled[index] as never];
    }
    return shuffled;
  };
}

/** Numbers from 0 up to 1 (mulberry32): `Math.random` cannot be seeded. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
