const LAST_DIGITS = 7;

/**
 * Returns a factor from 0.5 to 1 that depends on a UUID and the number of a pause. Callers that failed together then do
 * not retry together, and a run with the same ids has the same pauses. Without a number, the last digits of the UUID
 * count, which are random in every version.
 */
export function jitterOf(id: string, pauses = LAST_DIGITS): number {
  const digits = id.replaceAll('-', '');
  const from = (pauses * 4) % digits.length;
  return 0.5 + Number.parseInt(digits.slice(from, from + 4), 16) / 2 / 0xffff;
}
