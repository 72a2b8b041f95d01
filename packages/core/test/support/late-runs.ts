import type { BudgetLimits, Instant } from '@holdfast/core';
import { manualClock, type ManualClock, type ScriptedAnswer } from '@holdfast/core/testing';
import { expect } from 'vitest';
import { nextStart, observe, type Observation, type Scenario } from './builders.ts';

/** A scenario in which something calls `late`, and time is up. */
export type Late = (late: () => void) => Scenario;

/** The ways to limit the time of a run to 10 seconds. */
export const timeLimits: readonly (readonly [string, (start: Instant) => BudgetLimits])[] = [
  ['10 seconds of work', () => ({ maxSeconds: 10 })],
  ['a deadline', (start) => ({ deadline: start + 10_000 })],
];

/** Runs a scenario until its time is up. */
export async function outOfTime(
  scenario: Late,
  limit: (start: Instant) => BudgetLimits,
): Promise<Observation> {
  const start = nextStart();
  const clock = watchedClock(start);
  const made = scenario(() => clock.advance(10_000));
  const observation = await observe({ clock, budget: limit(start), ...made });
  expect(clock.pending).toBe(0);
  return observation;
}

/** Answers, and time is up. */
export function answers(late: () => void, answer: ScriptedAnswer): ScriptedAnswer {
  return () => {
    late();
    return answer;
  };
}

/** A clock that knows its timers. */
export interface WatchedClock extends ManualClock {
  /** How many were set so far. */
  readonly set: number;
  /** How many of them have neither gone off nor been called off. */
  readonly pending: number;
}

export function watchedClock(start: Instant): WatchedClock {
  const clock = manualClock(start);
  const pending = new Set<object>();
  let set = 0;
  return {
    ...clock,
    after(milliseconds, callback) {
      const timer = {};
      pending.add(timer);
      set++;
      const disarm = clock.after(milliseconds, () => {
        pending.delete(timer);
        callback();
      });
      return () => {
        pending.delete(timer);
        disarm();
      };
    },
    get set() {
      return set;
    },
    get pending() {
      return pending.size;
    },
  };
}
