/**
 * Returns a hash of a text: 13 letters and digits that differ for texts that differ. It finds changes and mistakes; it is no
 * defence against attacks.
 */
export function textHash(text: string): string {
  let high = text.length;
  let low = 0x9e3779b9;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    high = Math.imul(high ^ unit, 0x85ebca6b);
    high ^= high >>> 15;
    low = Math.imul(low + unit, 0xc2b2ae35) ^ (low >>> 13);
  }
  high = mixed(high ^ low);
  return lettersOf(high) + lettersOf(mixed(low ^ Math.imul(high, 0x9e3779b1)));
}

/** Spreads the last characters over all bits. */
function mixed(hash: number): number {
  const half = Math.imul(hash ^ (hash >>> 16), 0x7feb352d);
  const whole = Math.imul(half ^ (half >>> 15), 0x846ca68b);
  return whole ^ (whole >>> 16);
}

function lettersOf(hash: number): string {
  return (hash >>> 0).toString(36).padStart(7, '0').slice(-7);
}
