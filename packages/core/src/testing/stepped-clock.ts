import { checkArgument, mustBe } from '../arguments.ts';
import type { Clock, Instant } from '../clock.ts';

/**
 * A clock for tests: each reading is one step later than the one before, and ids count up. Clocks of one start make
 * the same ids, clocks of different starts different ones. Time-outs are the machine's.
 */
export function steppedClock(start: Instant = 0, stepMilliseconds = 1): Clock {
  checkArgument('start of steppedClock', start, mustBe.instant);
  checkArgument('stepMilliseconds of steppedClock', stepMilliseconds, mustBe.instant);
  let now = start - stepMilliseconds;
  return { now: () => (now += stepMilliseconds), newId: countingIds(start) };
}

/** A clock that stands still until it is told to go on. */
export interface ManualClock extends Required<Clock> {
  /** Goes on by so many milliseconds; time-outs that this passes go off, in order, each at its moment. */
  advance(milliseconds: number): void;
}

/** A clock for tests of what takes time: it stands still, and its time-outs go off as it is moved on. */
export function manualClock(start: Instant = 0): ManualClock {
  checkArgument('start of manualClock', start, mustBe.instant);
  const timers = new Set<Timer>();
  let now = start;
  return {
    now: () => now,
    newId: countingIds(start),
    after(milliseconds, callback) {
      const timer = { at: now + milliseconds, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance(milliseconds) {
      const end = now + milliseconds;
      for (let timer = earliest(timers, end); timer !== undefined; timer = earliest(timers, end)) {
        timers.delete(timer);
        now = Math.max(now, timer.at);
        timer.callback();
      }
      now = Math.max(now, end);
    },
  };
}

interface Timer {
  readonly at: Instant;
  readonly callback: () => void;
}

/** The timer that goes off first, if it does by then. */
function earliest(timers: Iterable<Timer>, end: Instant): Timer | undefined {
  const [first] = [...timers].filter(({ at }) => at <= end).toSorted((left, right) => left.at - right.at);
  return first;
}

function countingIds(start: Instant): () => string {
  const family = (start >>> 0).toString(16).padStart(8, '0');
  let count = 0;
  return () => `${family}-0000-4000-8000-${(++count).toString(16).padStart(12, '0')}`;
}
