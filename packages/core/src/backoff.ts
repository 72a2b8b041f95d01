/** The pauses between failed attempts, in any unit of time. */
export interface BackoffOptions {
  readonly first: number;
  readonly longest: number;
  /** How many times as long each pause is as the one before. Default: 2. */
  readonly factor?: number;
}

/** Returns the pause after a number of failed attempts, without jitter. @param failures a whole number from 1 */
export function backoff({ first, longest, factor = 2 }: BackoffOptions, failures: number): number {
  return Math.min(first * factor ** (failures - 1), longest);
}

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
