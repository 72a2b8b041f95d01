import { StoreThrottledError } from './session-errors.ts';

/** How many times a write may lose to another writer before it gives up. */
const MAX_TURNS = 1_000;

/** Takes turns until one has an answer. @throws StoreThrottledError after a thousand of them. */
export async function untilDone<T>(
  sessionId: string,
  turn: () => Promise<{ readonly answer: T } | undefined>,
): Promise<T> {
  for (let turns = 0; turns < MAX_TURNS; turns++) {
    const done = await turn();
    if (done) return done.answer;
  }
  throw new StoreThrottledError(`Other writers of session "${sessionId}" were faster ${MAX_TURNS} times.`);
}
