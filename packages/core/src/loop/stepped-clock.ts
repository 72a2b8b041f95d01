import type { Clock, Instant } from '../clock.ts';

/**
 * A clock for tests: each reading is one step later than the one before, and ids count up. Clocks of one start make
 * the same ids, clocks of different starts different ones.
 */
export function steppedClock(start: Instant = 0, stepMilliseconds = 1): Clock {
  const family = (start >>> 0).toString(16).padStart(8, '0');
  let now = start - stepMilliseconds;
  let count = 0;
  return {
    now: () => (now += stepMilliseconds),
    newId: () => `${family}-0000-4000-8000-${(++count).toString(16).padStart(12, '0')}`,
  };
}
