import { vi } from 'vitest';

/** The timers of a machine that sleeps: they stand still meanwhile, or fire as it wakes if they are due by then. */
export type TimersAsleep = 'stand still' | 'run on';

/** The platform of a machine that can sleep: its date, its timers, and the time in which its event loop was busy. */
export interface SleepyMachine {
  /** How many timers are pending. */
  readonly pending: number;
  /** Lets time pass in which timers fire. */
  advance(milliseconds: number): void;
  /** Lets time pass in which the event loop is busy, so that no timer fires. */
  block(milliseconds: number): void;
  sleep(milliseconds: number): void;
}

/** Puts a machine that can sleep in the place of the platform, until `vi.restoreAllMocks()`. */
export function sleepyMachine(timersAsleep: TimersAsleep): SleepyMachine {
  const timers = new Set<{ readonly at: number; readonly callback: () => void }>();
  let [now, timerTime, active] = [Date.now(), 0, 0];
  vi.spyOn(Date, 'now').mockImplementation(() => now);
  vi.spyOn(performance, 'eventLoopUtilization').mockImplementation(() => ({
    active,
    idle: 0,
    utilization: 0,
  }));
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((callback: () => void, delay = 0) => {
    const timer = { at: timerTime + delay, callback };
    timers.add(timer);
    return timer;
  }) as never);
  vi.spyOn(globalThis, 'clearTimeout').mockImplementation((timer) => void timers.delete(timer as never));
  const advance = (milliseconds: number): void => {
    const end = timerTime + milliseconds;
    const due = () => [...timers].filter(({ at }) => at <= end).toSorted((left, right) => left.at - right.at);
    for (let [timer] = due(); timer !== undefined; [timer] = due()) {
      timers.delete(timer);
      const passed = Math.max(0, timer.at - timerTime);
      [now, timerTime] = [now + passed, timerTime + passed];
      timer.callback();
    }
    [now, timerTime] = [now + end - timerTime, end];
  };
  return {
    get pending() {
      return timers.size;
    },
    advance,
    block(milliseconds) {
      [now, timerTime, active] = [now + milliseconds, timerTime + milliseconds, active + milliseconds];
    },
    sleep(milliseconds) {
      now += milliseconds;
      if (timersAsleep === 'run on') timerTime += milliseconds;
      advance(0);
    },
  };
}
