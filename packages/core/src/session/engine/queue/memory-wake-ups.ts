import { callAfter, type Clock, type Instant } from '../../../clock.ts';
import type { Schedule } from '../engine.ts';
import type { GroupLimits } from './group-limits.ts';
import { LaneTurns, type LaneLimits } from './lane-turns.ts';
import type { FollowUp, LaneBacklog, LockedSession, WakeUp, WakeUpQueue } from '../wake-up-queue.ts';

/** A session that waits for its turn. */
interface Waiting {
  readonly schedule: Schedule;
  readonly isRouted: boolean | undefined;
  readonly dueAt: Instant;
}

export class MemoryWakeUps implements WakeUpQueue {
  readonly limitsGroups: boolean;
  private readonly clock: Clock;
  private readonly turns: LaneTurns;
  private readonly waiting = new Map<string, Waiting>();
  /** The sessions that the engine works on, with the wake-up that arrived meanwhile. */
  private readonly locked = new Map<string, Waiting | undefined>();
  /** Wake-ups of a later instant, the latest first. */
  private readonly later: WakeUp[] = [];
  /** Their instants and sessions: each pair has one wake-up. */
  private readonly laterKeys = new Set<string>();
  /** True when `take` may find a session, since the last call of `take`. */
  private hasChanged = false;
  private onChange = (): void => undefined;

  constructor(clock: Clock, limits: Readonly<Record<string, LaneLimits>>, groupLimits?: GroupLimits) {
    this.clock = clock;
    this.limitsGroups = groupLimits !== undefined;
    this.turns = new LaneTurns(limits, groupLimits);
  }

  async add(wakeUps: readonly WakeUp[]): Promise<void> {
    const now = this.clock.now();
    for (const wakeUp of wakeUps) {
      if (wakeUp.at > now) this.addLater(wakeUp);
      else this.addDue(wakeUp);
    }
    this.hasChanged = true;
    this.onChange();
  }

  async take(): Promise<LockedSession | undefined> {
    this.hasChanged = false;
    const now = this.clock.now();
    for (let next = this.later.at(-1); next && next.at <= now; next = this.later.at(-1)) {
      this.later.pop();
      this.laterKeys.delete(`${next.at} ${next.sessionId}`);
      this.addDue(next);
    }
    const sessionId = this.turns.take(now);
    if (sessionId === undefined) return undefined;
    const waiting = this.waiting.get(sessionId) as Waiting;
    this.waiting.delete(sessionId);
    this.locked.set(sessionId, undefined);
    return { sessionId, ...waiting };
  }

  /** Sets a timer only while the engine waits, so that an idle process without a worker can exit. */
  async wait(signal: AbortSignal): Promise<void> {
    if (this.hasChanged || signal.aborted) return;
    const { clock } = this;
    const now = clock.now();
    const at = Math.min(this.later.at(-1)?.at ?? Infinity, this.turns.nextEnd(now) ?? Infinity);
    await new Promise<void>((resolve) => {
      const end = (): void => {
        signal.removeEventListener('abort', end);
        callOff?.();
        resolve();
      };
      const callOff = at === Infinity ? undefined : callAfter(clock, at - now, end);
      signal.addEventListener('abort', end);
      this.onChange = end;
    });
  }

  async finish({ sessionId, schedule }: LockedSession, { wakeUps, pause }: FollowUp): Promise<void> {
    const wanted = this.locked.get(sessionId);
    this.locked.delete(sessionId);
    this.turns.done(schedule);
    if (pause) this.turns.pause(pause.lane, pause.until);
    const meanwhile = wanted ? [wakeUpOf(sessionId, wanted)] : [];
    await this.add([...wakeUps, ...meanwhile]); // the schedule of the result comes first
  }

  async backlog(): Promise<readonly LaneBacklog[]> {
    const lanes = new Map<string | undefined, { waiting: number; since: Instant }>();
    for (const { schedule, dueAt } of this.waiting.values()) {
      const { waiting, since } = lanes.get(schedule.lane) ?? { waiting: 0, since: dueAt };
      lanes.set(schedule.lane, { waiting: waiting + 1, since: Math.min(since, dueAt) });
    }
    return [...lanes].map(([lane, backlog]) => ({ lane, ...backlog }));
  }

  /** Merges the wake-up with those of the session that are due. */
  private addDue({ sessionId, at, isRouted, ...schedule }: WakeUp): void {
    const waiting = { schedule, dueAt: at, isRouted };
    if (this.locked.has(sessionId)) {
      if (!this.locked.get(sessionId)) this.locked.set(sessionId, waiting);
    } else if (!this.waiting.has(sessionId)) {
      this.waiting.set(sessionId, waiting);
      this.turns.add(sessionId, schedule);
    }
  }

  private addLater(wakeUp: WakeUp): void {
    const { later, laterKeys } = this;
    const key = `${wakeUp.at} ${wakeUp.sessionId}`;
    if (laterKeys.has(key)) return;
    laterKeys.add(key);
    let [low, high] = [0, later.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((later[middle] as WakeUp).at > wakeUp.at) low = middle + 1;
      else high = middle;
    }
    later.splice(low, 0, wakeUp);
  }
}

function wakeUpOf(sessionId: string, { schedule, dueAt: at, isRouted }: Waiting): WakeUp {
  return { sessionId, at, ...schedule, isRouted };
}
