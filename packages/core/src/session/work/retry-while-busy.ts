import type { Clock } from '../../clock.ts';
import { pause } from '../../clock.ts';
import { hasErrorCode } from '../../errors.ts';
import type { SessionBusyError } from '../session-errors.ts';

/** How long somebody waits for whoever works on a session. */
export interface BusyRetryOptions {
  readonly waitSeconds: number;
  readonly signal: AbortSignal | undefined;
  readonly clock: Clock;
}

/** A claim may be let go of at any moment: asked for again after so many milliseconds, twice as many each time. */
const FIRST_PAUSE = 25;
const LONGEST_PAUSE = 1_000;

/** Does what needs a session to itself, as soon as nobody else works on it. @throws what the work throws at last. */
export async function retryWhileBusy<T>(
  work: () => Promise<T>,
  { waitSeconds, signal, clock }: BusyRetryOptions,
): Promise<T> {
  const end = clock.now() + waitSeconds * 1000;
  for (let delay = FIRST_PAUSE; ; delay = Math.min(2 * delay, LONGEST_PAUSE)) {
    try {
      return await work();
    } catch (error) {
      const now = clock.now();
      if (now >= end || signal?.aborted || !hasErrorCode(error, 'SESSION_BUSY')) throw error;
      // Nobody renews the claim of a process that died: it ends when it says, by the clock of the store.
      const untilFree = Math.max(FIRST_PAUSE, (error as SessionBusyError).until - now);
      // Those who wait for one session must not come back together.
      const jittered = delay * (0.5 + Math.random() / 2);
      if (!(await pause(clock, Math.min(jittered, untilFree, end - now), signal))) throw error;
    }
  }
}
