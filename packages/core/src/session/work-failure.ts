import type { Instant } from '../clock.ts';
import { readCount, readInstant, shapeReader, type Read } from '../document.ts';
import { readErrorRecord, toErrorRecord, type ErrorRecord } from '../state/values/error-record.ts';

/**
 * The last failure of work on a session outside of its execution, such as an agent that is not deployed. The session is due
 * again at `retryAt`. Without `retryAt` it is a dead letter: no worker tries it again until a caller calls `retry()`.
 */
export interface WorkFailure {
  readonly error: ErrorRecord;
  /** How many times the work failed in a row. */
  readonly attempts: number;
  readonly at: Instant;
  readonly retryAt?: Instant;
}

export const readWorkFailure: Read<WorkFailure> = shapeReader({
  error: readErrorRecord,
  attempts: readCount,
  at: readInstant,
  'retryAt?': readInstant,
});

/** A failure to record, and the pauses before further attempts. */
export interface FailedWork {
  readonly error: ErrorRecord;
  /** Seconds before the second attempt, the third, and so on. A failure after the last one makes a dead letter. */
  readonly delaysSeconds: readonly number[];
}

export function nextFailure(
  before: WorkFailure | undefined,
  { error, delaysSeconds }: FailedWork,
  at: Instant,
): WorkFailure {
  const attempts = (before?.attempts ?? 0) + 1;
  const delay = delaysSeconds[attempts - 1];
  const retryAt = delay === undefined ? {} : { retryAt: at + Math.ceil(delay * 1_000) };
  return Object.freeze({ error: toErrorRecord(error), attempts, at, ...retryAt });
}

/** True for a dead letter: no worker tries the session again until a caller calls `retry()`. */
export function isDeadLetter({ retryAt }: WorkFailure): boolean {
  return retryAt === undefined;
}
