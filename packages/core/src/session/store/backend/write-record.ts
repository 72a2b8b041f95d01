import { hasErrorCode } from '../../../errors.ts';
import type { Instant } from '../../../clock.ts';
import type { RecordChange } from './session-backend.ts';
import { StoreThrottledError } from '../../session-errors.ts';
import type { BackendReader } from './backend-reader.ts';
import { isExpired, isOwnedBy, type SessionRecord } from '../record/session-record.ts';

/** A decided write: the record and the change to write, if any, and the result to return. */
interface PlannedWrite<T> {
  readonly after?: SessionRecord;
  readonly change?: RecordChange;
  readonly answer: T;
  /** The result when the inbox already holds the item to enqueue. */
  readonly ifDuplicate?: T;
}

interface WriteOptions {
  /**
   * The record as last known, which may be out of date. Before the store refuses a write because of it, or writes nothing,
   * the store reads the current record.
   */
  readonly known?: SessionRecord | undefined;
  /** The session of another owner is not found. */
  readonly owner?: string | undefined;
}

/** Decides on a record and writes, and repeats both while other writers are faster. */
export async function writeRecord<T>(
  reader: BackendReader,
  sessionId: string,
  { known, owner }: WriteOptions,
  decide: (record: SessionRecord, now: Instant) => PlannedWrite<T> | Promise<PlannedWrite<T>>,
): Promise<T> {
  const { opened } = reader;
  let guess = known;
  return retryWhileOutdated(sessionId, async () => {
    if (guess && (!isOwnedBy(guess, owner) || isExpired(guess, await opened.now()))) guess = undefined;
    const record = guess ?? (await reader.recordOrThrow(sessionId, owner));
    const isGuess = record === guess;
    guess = undefined;
    const now = await opened.now();
    let planned: PlannedWrite<T>;
    try {
      planned = await decide(record, now);
    } catch (error) {
      if (isGuess) return undefined;
      throw error;
    }
    const { after, change = {}, ifDuplicate } = planned;
    if (after === undefined) return isGuess ? undefined : planned;
    const result = await opened.backend.compareAndSet(sessionId, record, after, change);
    if (result === 'duplicate') return { answer: ifDuplicate ?? planned.answer };
    return result === 'done' ? planned : undefined;
  });
}

/** The number of attempts after which a write fails. */
const MAX_ATTEMPTS = 1_000;

/** Repeats an attempt until it returns a result. @throws StoreThrottledError after 1,000 attempts. */
export async function retryWhileOutdated<T>(
  sessionId: string,
  attempt: () => Promise<{ readonly answer: T } | undefined>,
): Promise<T> {
  for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts++) {
    const done = await attempt();
    if (done) return done.answer;
  }
  throw new StoreThrottledError(
    `A write to session "${sessionId}" failed after ${MAX_ATTEMPTS} attempts: other writers were faster.`,
  );
}

/** Returns a handler that replaces the error for a missing session by a result. */
export function ifMissing<T>(result: T): (error: unknown) => T {
  return (error) => {
    if (hasErrorCode(error, 'SESSION_NOT_FOUND')) return result;
    throw error;
  };
}
