import { checkArgument, mustBe } from '../arguments.ts';
import type { Clock, Instant } from '../clock.ts';

/**
 * Creates a clock for tests. Each reading is one step after the reading before, and ids count up. Clocks with the same
 * start create the same ids, clocks with different starts different ids. Timers run in real time.
 */
export function steppedClock(start: Instant = 0, stepMilliseconds = 1): Clock {
  checkArgument('start of steppedClock', start, mustBe.instant);
  checkArgument('stepMilliseconds of steppedClock', stepMilliseconds, mustBe.instant);
  let now = start - stepMilliseconds;
  return { now: () => (now += stepMilliseconds), newId: countingIds(start) };
}

/** A clock that stands still until a test advances it. */
export interface ManualClock extends Required<Clock> {
  /** Advances the clock. Timers that become due fire in order, each at its own instant. */
  advance(milliseconds: number): void;
}

/** Creates a clock that stands still until a test advances it, for tests of timers. */
export function manualClock(start: Instant = 0): ManualClock {
  checkArgument('start of manualClock', start, mustBe.instant);
  const timers = new Set<Timer>();
  let now = start;
  return {
    now: () => now,
    newId: countingIds(start),
    after(milliseconds, callback) {
      const timer = { at: Math.ceil(now + milliseconds), callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance(milliseconds) {
      const end = Math.ceil(now + milliseconds);
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

/** Returns the earliest timer that is due at `end` or before. */
function earliest(timers: Iterable<Timer>, end: Instant): Timer | undefined {
  const [first] = [...timers].filter(({ at }) => at <= end).toSorted((left, right) => left.at - right.at);
  return first;
}

function countingIds(start: Instant): () => string {
  const family = (start >>> 0).toString(16).padStart(8, '0');
  let count = 0;
  return () => `${family}-0000-4000-8000-${(++count).toString(16).padStart(12, '0')}`;
}
