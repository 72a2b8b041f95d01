import { callAfter, type Clock, type Instant } from '../../clock.ts';
import { abortKind, canAbort } from './abort.ts';

/** Seconds that a hook or driver has to settle after an abort. */
const GRACE_SECONDS = 5;

/** Seconds that a resumable tool has to settle after an abort; a subagent waits for hooks and a driver of its own. */
export const RESUMABLE_GRACE_SECONDS = 30;

/** How long to wait for a promise. */
export interface GraceOptions<T> {
  /** Requests the stop. */
  readonly signal: AbortSignal;
  /** The instant at which grace begins, even if the signal does not abort. */
  readonly until?: Instant | undefined;
  readonly clock: Clock;
  /** Default: the grace of hooks and drivers. */
  readonly graceSeconds?: number;
  /** Returns the result when the promise did not settle in time. Default: a rejection with the signal's reason. */
  readonly onTimeout?: () => T;
}

/**
 * Returns the result of a promise that settles before the end of its grace. Grace begins when the signal aborts; a lost
 * run has none.
 */
export function withinGrace<T>(promise: Promise<T>, patience: GraceOptions<T>): Promise<T> {
  const { signal, until, clock, graceSeconds = GRACE_SECONDS } = patience;
  if (!canAbort(signal) && until === undefined) return promise;
  return new Promise<T>((resolve, reject) => {
    const timers: (() => void)[] = [];
    const end = (): void => {
      for (const callOff of timers) callOff();
      signal.removeEventListener('abort', onAbort);
    };
    const giveUp = (): void => {
      end();
      if (patience.onTimeout) resolve(patience.onTimeout());
      else reject(signal.reason as Error);
    };
    const giveUpAfter = (milliseconds: number): void => {
      timers.push(callAfter(clock, milliseconds + graceSeconds * 1_000, giveUp));
    };
    const onAbort = (): void => (abortKind(signal) === 'lost' ? giveUp() : giveUpAfter(0));
    Promise.resolve(promise).then(
      (value) => (end(), resolve(value)),
      (error: unknown) => (end(), reject(error as Error)),
    );
    if (until !== undefined) giveUpAfter(Math.max(0, until - clock.now()));
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}
