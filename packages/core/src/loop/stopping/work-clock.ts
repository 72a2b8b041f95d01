import { callAfter, type Clock, type Instant } from '../../clock.ts';

/** The time between two looks whether the process still runs. */
const TICK_MS = 10_000;
/** A tick that is later than this was delayed by a sleep of the machine, unless code of the process caused the delay. */
const LEAST_SLEEP_MS = 30_000;

/**
 * The clock of one run. It notices how long the machine slept, or the process was stopped, while the run worked: a tick of the
 * platform is late then. Its timers wait that time longer. A clock with timers of its own gets no tick: its time is what it says.
 */
export class WorkClock implements Required<Clock> {
  /** The clock of the loop, whose timers do not wait longer. */
  readonly given: Clock;
  private sleptMs = 0;
  /** When the next tick is due, by the date of the machine; `Infinity` while the run does not work. */
  private dueAt = Infinity;
  /** The time in which the process had computed at the last tick. */
  private busyMs = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(given: Clock) {
    this.given = given;
  }

  now(): Instant {
    return this.given.now();
  }

  newId(): string {
    return this.given.newId();
  }

  /** Begins to watch. The timer does not keep the process alive. */
  start(): void {
    if (this.given.after) return;
    this.dueAt = Date.now() + TICK_MS;
    this.busyMs = busyTime();
    this.timer = setTimeout(() => {
      this.slept();
      this.start();
    }, TICK_MS);
    this.timer.unref?.();
  }

  stop(): void {
    this.slept();
    clearTimeout(this.timer);
    this.timer = undefined;
    this.dueAt = Infinity;
  }

  /** The milliseconds of sleep that were noticed so far. */
  get noticedSleep(): number {
    return this.sleptMs;
  }

  /** The milliseconds that the machine slept, until now, while the run worked. */
  slept(): number {
    const now = Date.now();
    const lateMs = now - this.dueAt;
    if (lateMs <= LEAST_SLEEP_MS) return this.sleptMs;
    const busyMs = busyTime();
    const idleMs = Math.floor(lateMs - (busyMs - this.busyMs));
    this.dueAt = now + TICK_MS;
    this.busyMs = busyMs;
    if (idleMs > LEAST_SLEEP_MS) this.sleptMs += idleMs;
    return this.sleptMs;
  }

  /** Calls `callback` after a time of work. */
  after(milliseconds: number, callback: () => void): () => void {
    const [startedAt, sleptBefore] = [Date.now(), this.slept()];
    let callOff = callAfter(this.given, milliseconds, () => {
      const sleptMs = this.slept() - sleptBefore;
      // A timer of the platform may stand still during a sleep: then it has waited long enough.
      const leftMs = Math.min(sleptMs, milliseconds + sleptMs - (Date.now() - startedAt));
      if (leftMs <= 0) callback();
      else callOff = this.after(leftMs, callback);
    });
    return () => callOff();
  }
}

interface BusyPlatform {
  readonly performance?: { eventLoopUtilization?(): { readonly active: number } | undefined };
}

/**
 * Returns the milliseconds in which the event loop of the platform was busy: code that blocks it is work. 0 where the platform
 * does not tell.
 */
function busyTime(): number {
  return (globalThis as BusyPlatform).performance?.eventLoopUtilization?.()?.active ?? 0;
}
