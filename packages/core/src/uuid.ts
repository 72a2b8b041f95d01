/** The number of ids that one call of the random generator provides. */
const BATCH = 1_024;
const BYTES = 16;

/**
 * Random bytes for the next ids. The first id fills the pool: some platforms provide no randomness while modules load.
 */
const pool = new Uint8Array(BYTES * BATCH);
let used = BATCH;

const DASH = 45;
const DIGITS = Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0));
/** The position of the two digits of each byte in the text. */
const PLACES = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];
/** The character codes of the id under construction. */
const codes: number[] = Array.from({ length: 36 }, () => DASH);

/**
 * Returns a random UUID (RFC 9562, version 4) as one flat string. `crypto.randomUUID()` of Node returns a rope of
 * twenty strings: it takes half a kilobyte, and its first use as a key flattens it.
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

/** Returns the position of the next unused bytes in the pool. */
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
