import type { Instant } from '../../clock.ts';
import type { OpenBackend } from './open-backend.ts';
import type { RecordChange } from './session-backend.ts';
import { SessionNotFoundError, StoreThrottledError } from '../session-errors.ts';
import type { BackendReader } from './backend-reader.ts';
import type { SessionRecord } from './session-record.ts';
import { isExpired } from './session-record.ts';

/** What to write, if anything, and what that answers. */
interface PlannedWrite<T> {
  readonly after?: SessionRecord;
  readonly change?: RecordChange;
  readonly answer: T;
  /** The answer when the inbox holds the item to enqueue already. */
  readonly ifDuplicate?: T;
}

interface WriteContext {
  readonly opened: OpenBackend;
  readonly reader: BackendReader;
  /** May be out of date: before it is refused by such a record, the write looks at the present one. */
  readonly known?: SessionRecord | undefined;
}

/** Decides on a record and writes, until no other writer comes between. */
export async function writeRecord<T>(
  sessionId: string,
  { opened, reader, known }: WriteContext,
  decide: (record: SessionRecord, now: Instant) => PlannedWrite<T>,
): Promise<T> {
  let guess = known;
  return retryWhileOutdated(sessionId, async () => {
    if (guess && isExpired(guess, await opened.now())) guess = undefined;
    const record = guess ?? (await reader.record(sessionId));
    if (record === undefined) throw new SessionNotFoundError(sessionId);
    const isGuess = record === guess;
    guess = undefined;
    const now = await opened.now();
    let planned: PlannedWrite<T>;
    try {
      planned = decide(record, now);
    } catch (error) {
      if (isGuess) return undefined;
      throw error;
    }
    const { after, change = {}, ifDuplicate } = planned;
    const result = after ? await opened.backend.compareAndSet(sessionId, record, after, change) : 'done';
    if (result === 'duplicate') return { answer: ifDuplicate ?? planned.answer };
    return result === 'done' ? planned : undefined;
  });
}

/** How many times a write may lose to another writer before it gives up. */
const MAX_ATTEMPTS = 1_000;

/** Takes turns until one has an answer. @throws StoreThrottledError after a thousand of them. */
export async function retryWhileOutdated<T>(
  sessionId: string,
  attempt: () => Promise<{ readonly answer: T } | undefined>,
): Promise<T> {
  for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts++) {
    const done = await attempt();
    if (done) return done.answer;
  }
  throw new StoreThrottledError(`Other writers of session "${sessionId}" were faster ${MAX_ATTEMPTS} times.`);
}
