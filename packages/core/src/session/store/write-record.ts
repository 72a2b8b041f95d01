import type { Instant } from '../../clock.ts';
import type { OpenBackend } from './open-backend.ts';
import type { RecordChange } from './session-backend.ts';
import { SessionNotFoundError, StoreThrottledError } from '../session-errors.ts';
import type { BackendReader } from './backend-reader.ts';
import type { SessionRecord } from './session-record.ts';
import { isExpired } from './session-record.ts';

/** What to write, if anything, and what that answers. */
interface Decision<T> {
  readonly after?: SessionRecord;
  readonly change?: RecordChange;
  readonly answer: T;
  /** The answer when the inbox holds the item to enqueue already. */
  readonly ifDuplicate?: T;
}

interface WriteParts {
  readonly opened: OpenBackend;
  readonly reader: BackendReader;
  /** May be out of date: before it is refused by such a record, the write looks at the present one. */
  readonly known?: SessionRecord | undefined;
}

/** Decides on a record and writes, until no other writer comes between. */
export async function writeRecord<T>(
  sessionId: string,
  { opened, reader, known }: WriteParts,
  decide: (record: SessionRecord, now: Instant) => Decision<T>,
): Promise<T> {
  let guess = known;
  return retryWhileOutdated(sessionId, async () => {
    if (guess && isExpired(guess, await opened.now())) guess = undefined;
    const record = guess ?? (await reader.record(sessionId));
    if (record === undefined) throw new SessionNotFoundError(sessionId);
    const isGuess = record === guess;
    guess = undefined;
    const now = await opened.now();
    let decision: Decision<T>;
    try {
      decision = decide(record, now);
    } catch (error) {
      if (isGuess) return undefined;
      throw error;
    }
    const { after, change = {}, ifDuplicate } = decision;
    const result = after ? await opened.backend.compareAndSet(sessionId, record, after, change) : 'done';
    if (result === 'duplicate') return { answer: ifDuplicate ?? decision.answer };
    return result === 'done' ? decision : undefined;
  });
}

/** How many times a write may lose to another writer before it gives up. */
const MAX_TURNS = 1_000;

/** Takes turns until one has an answer. @throws StoreThrottledError after a thousand of them. */
export async function retryWhileOutdated<T>(
  sessionId: string,
  turn: () => Promise<{ readonly answer: T } | undefined>,
): Promise<T> {
  for (let turns = 0; turns < MAX_TURNS; turns++) {
    const done = await turn();
    if (done) return done.answer;
  }
  throw new StoreThrottledError(`Other writers of session "${sessionId}" were faster ${MAX_TURNS} times.`);
}
