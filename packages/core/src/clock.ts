import { describeValue, invalidArgument } from './errors.ts';
import { randomUuid } from './uuid.ts';

/**
 * A moment: whole milliseconds since the Unix epoch, UTC. A number is immutable, compares with `<`, and is
 * the same in JSON; `new Date(instant)` shows it. Durations are something else: seconds, as numbers.
 */
export type Instant = number;

/** Where time and identity come from. The only impure inputs of core; pass your own to make a run repeatable. */
export interface Clock {
  /** The present moment. */
  now(): Instant;
  /** A fresh UUID. */
  newId(): string;
  /** Calls back once so many milliseconds have passed; what it returns calls that off. Default: a timer. */
  after?(milliseconds: number, callback: () => void): () => void;
}

/** A timer that is set for longer goes off at once. */
const MAX_TIMER_MILLISECONDS = 2 ** 31 - 1;

/** A time-out by the clock, however far away; what it returns calls it off. */
export function callAfter(clock: Clock, milliseconds: number, callback: () => void): () => void {
  const delay = Math.max(0, milliseconds) || 0;
  if (delay <= MAX_TIMER_MILLISECONDS) return callSoon(clock, delay, callback);
  const due = clock.now() + delay;
  let again: (() => void) | undefined;
  const first = callSoon(clock, MAX_TIMER_MILLISECONDS, () => {
    again = callAfter(clock, due - clock.now(), callback);
  });
  return () => (again ?? first)();
}

function callSoon(clock: Clock, delay: number, callback: () => void): () => void {
  if (clock.after) return clock.after(delay, callback);
  const timer = setTimeout(callback, delay);
  return () => clearTimeout(timer);
}

/** Waits so many milliseconds; false when the signal aborts first. */
export async function pause(clock: Clock, milliseconds: number, signal?: AbortSignal): Promise<boolean> {
  if (signal?.aborted) return false;
  return new Promise<boolean>((resolve) => {
    const leave = (): void => {
      callOff();
      resolve(false);
    };
    signal?.addEventListener('abort', leave);
    const callOff = callAfter(clock, milliseconds, () => {
      signal?.removeEventListener('abort', leave);
      resolve(true);
    });
  });
}

/** The clock of the machine and random UUIDs (version 4). */
export const systemClock: Clock = Object.freeze({
  now: () => Date.now(),
  newId: randomUuid,
});

/** The instant of a number of milliseconds; a fraction is dropped. @throws RangeError `ARGUMENT_INVALID` for what is not a moment. */
export function toInstant(milliseconds: number): Instant {
  const instant = typeof milliseconds === 'number' ? Math.trunc(milliseconds) + 0 : undefined;
  if (Number.isSafeInteger(instant)) return instant as Instant;
  throw invalidArgument(
    `An instant is a number of milliseconds since 1970, found ${describeValue(milliseconds)}.`,
  );
}

/** The present moment by a clock. @throws TypeError `ARGUMENT_INVALID` when `now()` returns no instant. */
export function readClock(clock: Clock): Instant {
  const now = clock.now();
  if (Number.isSafeInteger(now)) return now;
  const found = (now as unknown) instanceof Date ? 'a Date' : describeValue(now);
  throw invalidArgument(
    `now() of a clock must return whole milliseconds since 1970, as Date.now() does; found ${found}.`,
    TypeError,
  );
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A fresh id of a clock. @throws TypeError `ARGUMENT_INVALID` when `newId()` returns no UUID. */
export function newId(clock: Clock): string {
  const id = clock.newId();
  if (typeof id === 'string' && UUID.test(id)) return id;
  throw invalidArgument(
    `newId() of a clock must return a UUID, as crypto.randomUUID() does; found ${describeValue(id)}.`,
    TypeError,
  );
}

/** The seconds from one instant to another. */
export function secondsBetween(from: Instant, to: Instant): number {
  return (to - from) / 1000;
}
