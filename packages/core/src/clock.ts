import { describeValue, invalidArgument } from './errors.ts';
import { randomUuid } from './uuid.ts';

/**
 * An instant: whole milliseconds since the Unix epoch, UTC. It is immutable, compares with `<`, and is the same in
 * JSON. `new Date(instant)` converts it to a date. Durations are numbers of seconds.
 */
export type Instant = number;

/** The source of time and ids, and the only impure input of core. Pass your own clock to make a run repeatable. */
export interface Clock {
  /** Returns the current instant. */
  now(): Instant;
  /** Returns a new UUID. */
  newId(): string;
  /**
   * Calls `callback` once after a delay of whole milliseconds, and returns a function that cancels the call. Default: a
   * timer of the platform.
   */
  after?(milliseconds: number, callback: () => void): () => void;
}

/** The longest delay of a timer. A timer with a longer delay fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Calls `callback` after a delay of any length, and returns a function that cancels the call. */
export function callAfter(clock: Clock, milliseconds: number, callback: () => void): () => void {
  const delay = Math.ceil(Math.max(0, milliseconds)) || 0;
  if (delay <= MAX_TIMER_MS) return callSoon(clock, delay, callback);
  const due = clock.now() + delay;
  let again: (() => void) | undefined;
  const first = callSoon(clock, MAX_TIMER_MS, () => {
    again = callAfter(clock, due - clock.now(), callback);
  });
  return () => (again ?? first)();
}

function callSoon(clock: Clock, delay: number, callback: () => void): () => void {
  if (clock.after) return clock.after(delay, callback);
  const timer = setTimeout(callback, delay);
  return () => clearTimeout(timer);
}

/**
 * Returns milliseconds by which the timers of a clock run: those of the clock when it brings its own timers, and
 * otherwise those of the platform, which a correction of the date does not change.
 */
export function timerTime(clock: Clock): number {
  return clock.after ? clock.now() : performance.now();
}

/** Waits for a number of milliseconds. Resolves to true after that time, or to false as soon as the signal aborts. */
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

/** Resolves after the timers and the sockets of the process have had their turn. */
export function nextTurn(): Promise<void> {
  const { setImmediate: callSoonest = setTimeout } = globalThis as {
    setImmediate?: (callback: () => void) => unknown;
  };
  return new Promise((resolve) => void callSoonest(resolve));
}

/** The clock of the machine, with random UUIDs (version 4). */
export const systemClock: Clock = Object.freeze({
  now: () => Date.now(),
  newId: randomUuid,
});

/**
 * Returns the instant of a number of milliseconds, without its fraction.
 * @throws RangeError `ARGUMENT_INVALID` for a value that is not a number of milliseconds in the safe range.
 */
export function toInstant(milliseconds: number): Instant {
  const instant = typeof milliseconds === 'number' ? Math.trunc(milliseconds) + 0 : undefined;
  if (Number.isSafeInteger(instant)) return instant as Instant;
  throw invalidArgument(
    `An instant must be a number of milliseconds since 1970, found ${describeValue(milliseconds)}.`,
  );
}

/** Reads the present instant from a clock. @throws TypeError `ARGUMENT_INVALID` when `now()` returns no instant. */
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

/** Creates an id by a clock. @throws TypeError `ARGUMENT_INVALID` when `newId()` returns no UUID. */
export function newId(clock: Clock): string {
  const id = clock.newId();
  if (typeof id === 'string' && UUID.test(id)) return id;
  throw invalidArgument(
    `newId() of a clock must return a UUID, as crypto.randomUUID() does; found ${describeValue(id)}.`,
    TypeError,
  );
}

/** Returns the seconds from one instant to another. */
export function secondsBetween(from: Instant, to: Instant): number {
  return (to - from) / 1000;
}
