/** How many ids one call of the random generator serves. */
const BATCH = 128;
const BYTES = 16;

/** Random bytes of the ids to come. Filled when the first id is asked for: some platforms have no randomness before. */
const pool = new Uint8Array(BYTES * BATCH);
let used = BATCH;

const DASH = 45;
const DIGITS = Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0));
/** Where in the text the two digits of each byte begin. */
const PLACES = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];
/** The characters of the id that is being made. */
const codes: number[] = Array.from({ length: 36 }, () => DASH);

/**
 * A random UUID (RFC 9562, version 4) as one flat string. `crypto.randomUUID()` of Node gives a rope of twenty strings,
 * which takes half a kilobyte and is flattened when it first becomes a key.
 */
export function randomUuid(): string {
  const from = nextBytes();
  setBits(from + 6, 0x40, 0x0f); // the version
  setBits(from + 8, 0x80, 0x3f); // the variant
  for (let index = 0; index < BYTES; index++) {
    const [byte, place] = [pool[from + index] as number, PLACES[index] as number];
    codes[place] = DIGITS[byte >> 4] as number;
    codes[place + 1] = DIGITS[byte & 0x0f] as number;
  }
  return String.fromCharCode.apply(undefined, codes);
}

/** Where in the pool the bytes of the next id begin. Each is used once. */
function nextBytes(): number {
  if (used === BATCH) {
    crypto.getRandomValues(pool);
    used = 0;
  }
  return BYTES * used++;
}

/** Sets the bits of a byte that are not random. */
function setBits(at: number, fixed: number, random: number): void {
  pool[at] = fixed | ((pool[at] as number) & random);
}
