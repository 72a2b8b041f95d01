import type { Clock, Instant } from '../../clock.ts';
import { callAfter } from '../../clock.ts';
import { abortKind, canAbort } from './abort.ts';

/** Seconds that a hook or driver has to come to an end in, once it was told to stop. */
const GRACE_SECONDS = 5;

/** The same of a resumable tool: a subagent has hooks and a driver of its own to wait for. */
export const RESUMABLE_GRACE_SECONDS = 30;

/** For how long something is waited for. */
export interface GraceOptions<T> {
  /** Tells it to stop. */
  readonly signal: AbortSignal;
  /** When it should have ended, whatever the signal says. */
  readonly until?: Instant | undefined;
  readonly clock: Clock;
  /** Default: that of hooks and drivers. */
  readonly graceSeconds?: number;
  /** What comes of it when it has not settled in time; default: it rejects with the signal's reason. */
  readonly onTimeout?: () => T;
}

/**
 * What a promise comes to, if it settles within the grace that there is after its signal has aborted; there is none once
 * the run is lost.
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
