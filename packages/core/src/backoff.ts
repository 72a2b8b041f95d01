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

/** The places of the version and the variant in the digits of a UUID: they do not vary. */
const VERSION = 12;
const VARIANT = 16;
/** How many groups of four digits the others have. */
const GROUPS = 7;

/**
 * Returns a factor from 0.5 to 1 that depends on a UUID and the number of a pause. Callers that failed together then do
 * not retry together, and a run with the same ids has the same pauses. The first pauses use the last digits, which are
 * random in every version.
 */
export function jitterOf(id: string, pauses = 0): number {
  const digits = id.replaceAll('-', '');
  const varied = digits.slice(0, VERSION) + digits.slice(VERSION + 1, VARIANT) + digits.slice(VARIANT + 1);
  const end = varied.length - (pauses % GROUPS) * 4;
  return 0.5 + Number.parseInt(varied.slice(end - 4, end), 16) / 2 / 0xffff;
}
