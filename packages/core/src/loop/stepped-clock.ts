import type { Clock, Instant } from '../clock.ts';

/**
 * A clock for tests: each reading is one step later than the one before, and ids count up
 * (`00000000-0000-4000-8000-000000000001`, …).
 */
export function steppedClock(start: Instant = 0, stepMilliseconds = 1): Clock {
  let now = start - stepMilliseconds;
  let count = 0;
  return {
    now: () => (now += stepMilliseconds),
    newId: () => `00000000-0000-4000-8000-${(++count).toString(16).padStart(12, '0')}`,
  };
}
