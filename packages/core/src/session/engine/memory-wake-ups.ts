import type { Clock, Instant } from '../../clock.ts';
import { callAfter } from '../../clock.ts';
import type { Schedule } from './engine.ts';
import type { LaneLimits } from './lane-turns.ts';
import { LaneTurns } from './lane-turns.ts';
import type { Following, LockedSession, WakeUp, WakeUpQueue } from './wake-up-queue.ts';

/** A session that this process works on. */
interface MemoryLock extends LockedSession {
  /** The lane in which the session was taken. */
  readonly lane: string | undefined;
}

/** A session that waits for its turn. */
interface Waiting {
  readonly schedule: Schedule;
  readonly dueAt: Instant;
}

/** The wake-ups of an engine, in the memory of this process. */
export class MemoryWakeUps implements WakeUpQueue<MemoryLock> {
  private readonly clock: Clock;
  private readonly turns: LaneTurns;
  private readonly waiting = new Map<string, Waiting>();
  /** The sessions that the engine works on, with the wake-up that arrived meanwhile. */
  private readonly locked = new Map<string, Waiting | undefined>();
  /** Wake-ups of a later instant, the latest first. */
  private readonly later: WakeUp[] = [];
  /** True when `take` may find a session, since the last call of `take`. */
  private hasChanged = false;
  private onChange = (): void => undefined;

  constructor(clock: Clock, limits: Readonly<Record<string, LaneLimits>>) {
    this.clock = clock;
    this.turns = new LaneTurns(limits);
  }

  async add(wakeUps: readonly WakeUp[]): Promise<void> {
    const now = this.clock.now();
    for (const wakeUp of wakeUps) {
      if (wakeUp.at > now) this.addLater(wakeUp);
      else this.addDue(wakeUp);
    }
    this.change();
  }

  async take(): Promise<MemoryLock | undefined> {
    this.hasChanged = false;
    const now = this.clock.now();
    for (let next = this.later.at(-1); next && next.at <= now; next = this.later.at(-1)) {
      this.later.pop();
      this.addDue(next);
    }
    const taken = this.turns.take(now);
    if (taken === undefined) return undefined;
    const { sessionId, lane } = taken;
    const { schedule, dueAt } = this.waiting.get(sessionId) as Waiting;
    this.waiting.delete(sessionId);
    this.locked.set(sessionId, undefined);
    return { sessionId, schedule, dueAt, lane };
  }

  /** Sets a timer only while the engine waits, so that an idle process without a worker can exit. */
  async wait(signal: AbortSignal): Promise<void> {
    if (this.hasChanged || signal.aborted) return;
    const { clock } = this;
    const at = Math.min(this.later.at(-1)?.at ?? Infinity, this.turns.nextEnd(clock.now()) ?? Infinity);
    const changed = Promise.withResolvers<void>();
    this.onChange = changed.resolve;
    signal.addEventListener('abort', this.onChange);
    const callOff = at === Infinity ? undefined : callAfter(clock, at - clock.now(), changed.resolve);
    await changed.promise;
    signal.removeEventListener('abort', this.onChange);
    callOff?.();
  }

  async finish({ sessionId, lane }: MemoryLock, { wakeUps, pause }: Following): Promise<void> {
    const wanted = this.locked.get(sessionId);
    this.locked.delete(sessionId);
    this.turns.done(lane);
    if (pause) this.turns.pause(pause.lane, pause.until);
    if (wanted) this.addDue({ sessionId, at: wanted.dueAt, ...wanted.schedule });
    await this.add(wakeUps);
  }

  /** Merges the wake-up with those of the session that are due. */
  private addDue({ sessionId, at, ...schedule }: WakeUp): void {
    const waiting = { schedule, dueAt: at };
    if (this.locked.has(sessionId)) {
      if (!this.locked.get(sessionId)) this.locked.set(sessionId, waiting);
    } else if (!this.waiting.has(sessionId)) {
      this.waiting.set(sessionId, waiting);
      this.turns.add(sessionId, schedule);
    }
  }

  private addLater(wakeUp: WakeUp): void {
    const { later } = this;
    let [low, high] = [0, later.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((later[middle] as WakeUp).at > wakeUp.at) low = middle + 1;
      else high = middle;
    }
    for (let index = low; later[index]?.at === wakeUp.at; index++)
      if (later[index]?.sessionId === wakeUp.sessionId) return;
    later.splice(low, 0, wakeUp);
  }

  private change(): void {
    this.hasChanged = true;
    this.onChange();
  }
}
