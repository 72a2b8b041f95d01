import type { Instant } from '../../clock.ts';
import type { Schedule } from './engine.ts';

/** A session that waits for work. */
interface QueuedSession {
  readonly sessionId: string;
  readonly priority: number;
}

/** The sessions of one lane, by priority and then in the order of their wake-ups. */
interface Lane {
  readonly name: string | undefined;
  readonly queue: QueuedSession[];
  running: number;
  /** No session of the lane starts before. */
  pausedUntil: Instant;
}

/** Limits of one lane. */
export interface LaneLimits {
  /** How many sessions of the lane are worked on at the same time; no limit when absent. */
  readonly concurrency?: number | undefined;
}

/**
 * The sessions that wait for work in an engine. Lanes take turns, so that a long queue of one lane does not hold up the
 * others. A lane that is paused or at its limit is passed over.
 */
export class WakeQueue {
  private readonly lanes = new Map<string | undefined, Lane>();
  private readonly limits: Readonly<Record<string, LaneLimits>>;

  constructor(limits: Readonly<Record<string, LaneLimits>> = {}) {
    this.limits = limits;
  }

  add(sessionId: string, { lane: name, priority = 0 }: Schedule): void {
    const { queue } = this.lane(name);
    const isHigher = (queue.at(-1)?.priority ?? Infinity) < priority;
    const place = isHigher ? queue.findIndex((queued) => queued.priority < priority) : queue.length;
    queue.splice(place, 0, { sessionId, priority });
  }

  /** The next session to work on, and its lane; `undefined` when each lane is empty, paused or at its limit. */
  take(now: Instant): { readonly sessionId: string; readonly lane: string | undefined } | undefined {
    for (const lane of this.lanes.values()) {
      if (lane.queue.length === 0 || lane.pausedUntil > now || this.isFull(lane)) continue;
      const { sessionId } = lane.queue.shift() as QueuedSession;
      lane.running++;
      this.lanes.delete(lane.name); // to the end of the turns
      this.lanes.set(lane.name, lane);
      return { sessionId, lane: lane.name };
    }
    return undefined;
  }

  /** Ends the work on a session of a lane. */
  done(name: string | undefined): void {
    const lane = this.lane(name);
    lane.running--;
    if (lane.running === 0 && lane.queue.length === 0 && lane.pausedUntil === 0) this.lanes.delete(name);
  }

  /** Starts no session of a lane before a moment. */
  pause(name: string, until: Instant): void {
    const lane = this.lane(name);
    lane.pausedUntil = Math.max(lane.pausedUntil, until);
  }

  private isFull({ name, running }: Lane): boolean {
    return name !== undefined && running >= (this.limits[name]?.concurrency ?? Infinity);
  }

  private lane(name: string | undefined): Lane {
    const known = this.lanes.get(name);
    if (known) return known;
    const lane = { name, queue: [], running: 0, pausedUntil: 0 };
    this.lanes.set(name, lane);
    return lane;
  }
}
