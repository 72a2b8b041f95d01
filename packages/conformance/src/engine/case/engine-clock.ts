import { setTimeout as wait } from 'node:timers/promises';
import { systemClock, type Clock, type Instant } from '@holdfast/core';
import { START, testClock } from '../../store/case/store-case.ts';

/** A clock that a case can advance. */
export interface EngineClock extends Clock {
  /** A timer may fire this many milliseconds too early. */
  readonly earlyBy: number;
  /** Advances the clock by this time. Resolves after the timers of this time have fired. */
  pass(milliseconds: number): Promise<void>;
}

interface TimeOut {
  readonly at: Instant;
  readonly callback: () => void;
}

/** A clock that stands still until a case advances it. */
export function movedClock(): EngineClock {
  const ids = testClock();
  const timeOuts = new Set<TimeOut>();
  let now = START;
  const first = (): TimeOut | undefined => [...timeOuts].toSorted((left, right) => left.at - right.at)[0];
  return {
    earlyBy: 0,
    newId: () => ids.newId(),
    now: () => now,
    after(milliseconds, callback) {
      if (milliseconds <= 0) return callSoon(callback);
      const timeOut = { at: now + milliseconds, callback };
      timeOuts.add(timeOut);
      return () => timeOuts.delete(timeOut);
    },
    async pass(milliseconds) {
      const end = now + milliseconds;
      for (let next = first(); next !== undefined && next.at <= end; next = first()) {
        timeOuts.delete(next);
        now = Math.max(now, next.at);
        next.callback();
      }
      now = end;
    },
  };
}

function callSoon(callback: () => void): () => void {
  const immediate = setImmediate(callback);
  return () => clearImmediate(immediate);
}

/** The clock of the machine. To advance it is to wait. */
export const machineClock: EngineClock = {
  ...systemClock,
  earlyBy: 1,
  pass: (milliseconds) => wait(milliseconds),
};
