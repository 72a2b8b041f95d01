import { pause, type Clock } from '../../clock.ts';
import { hasErrorCode } from '../../errors.ts';
import { backoff, jitterOf } from '../../backoff.ts';
import type { SessionBusyError } from '../session-errors.ts';

/** How long a caller waits for a busy session. */
export interface BusyRetryOptions {
  readonly waitSeconds: number;
  readonly signal: AbortSignal | undefined;
  readonly clock: Clock;
}

/** The pauses between two attempts, which are short: the claim may be released at any moment. */
const PAUSES_MILLISECONDS = { first: 25, longest: 1_000 };

/**
 * Does work that needs a session for itself, as soon as no other worker holds a claim.
 * @throws the last error of the work.
 */
export async function retryWhileBusy<T>(
  work: () => Promise<T>,
  { waitSeconds, signal, clock }: BusyRetryOptions,
): Promise<T> {
  const end = clock.now() + waitSeconds * 1000;
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const now = clock.now();
      if (now >= end || signal?.aborted || !hasErrorCode(error, 'SESSION_BUSY')) throw error;
      // No worker renews the claim of a process that died: it expires at `until`, by the clock of the store.
      const untilFree = Math.max(PAUSES_MILLISECONDS.first, (error as SessionBusyError).until - now);
      // Callers that wait for one session must not retry at the same time.
      const jittered = backoff(PAUSES_MILLISECONDS, attempt) * jitterOf(clock.newId());
      if (!(await pause(clock, Math.min(jittered, untilFree, end - now), signal))) throw error;
    }
  }
}
