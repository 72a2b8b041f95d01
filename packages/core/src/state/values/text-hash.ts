/** The two 32-bit words of a hash of a text. */
interface HashedText {
  readonly high: number;
  readonly low: number;
  /** True when each character of the text is one byte in UTF-8. */
  readonly isAscii: boolean;
}

/**
 * Returns a hash of a text: 14 letters and digits that differ for texts that differ. It finds changes and mistakes; it is no
 * defence against attacks.
 */
export function textHash(text: string): string {
  const { high, low } = hashedText(text);
  return lettersOf(high) + lettersOf(low);
}

/** Returns the words of a hash of a text. Another seed gives other words. */
export function hashedText(text: string, seed = 0): HashedText {
  let high = text.length ^ Math.imul(seed, 0x9e3779b1);
  let low = 0x9e3779b9;
  let units = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    units |= unit;
    high = Math.imul(high ^ unit, 0x85ebca6b);
    high ^= high >>> 15;
    low = Math.imul(low + unit, 0xc2b2ae35) ^ (low >>> 13);
  }
  high = mixed(high ^ low);
  low = mixed(low ^ Math.imul(high, 0x9e3779b1));
  return { high, low, isAscii: units < 0x80 };
}

/** Spreads the last characters over all bits. */
function mixed(hash: number): number {
  const half = Math.imul(hash ^ (hash >>> 16), 0x7feb352d);
  const whole = Math.imul(half ^ (half >>> 15), 0x846ca68b);
  return whole ^ (whole >>> 16);
}

function lettersOf(word: number): string {
  return (word >>> 0).toString(36).padStart(7, '0').slice(-7);
}
