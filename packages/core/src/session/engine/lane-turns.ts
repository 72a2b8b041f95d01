import type { Instant } from '../../clock.ts';
import type { Schedule } from './engine.ts';

/** Limits of one lane. */
export interface LaneLimits {
  /** How many sessions of the lane are worked on at the same time; no limit when absent. */
  readonly concurrency?: number | undefined;
}

/** The sessions of one priority that wait for work, by group. Groups take turns, in the order of the map. */
interface Level {
  readonly priority: number;
  readonly groups: Map<string | undefined, string[]>;
}

/** The sessions of one lane that wait for work. */
interface Lane {
  readonly name: string | undefined;
  /** By priority, the highest first. */
  readonly priorities: Level[];
  running: number;
  /** No session of the lane starts before. */
  pausedUntil: Instant;
}

/**
 * The sessions that wait for work in an engine. Lanes take turns, so that a long queue of one lane does not hold up the
 * others; so do the groups of a lane. A lane that is paused or at its limit is passed over.
 */
export class LaneTurns {
  private readonly lanes = new Map<string | undefined, Lane>();
  private readonly limits: Readonly<Record<string, LaneLimits>>;

  constructor(limits: Readonly<Record<string, LaneLimits>> = {}) {
    this.limits = limits;
  }

  add(sessionId: string, { lane: name, priority = 0, group }: Schedule): void {
    const { priorities } = this.lane(name);
    let place = priorities.findIndex((level) => level.priority <= priority);
    if (place === -1) place = priorities.length;
    if (priorities[place]?.priority !== priority)
      priorities.splice(place, 0, { priority, groups: new Map() });
    const { groups } = priorities[place] as Level;
    const sessionIds = groups.get(group);
    if (sessionIds) sessionIds.push(sessionId);
    else groups.set(group, [sessionId]);
  }

  /** The next session to work on; `undefined` when each lane is empty, paused or at its limit. */
  take(now: Instant): string | undefined {
    for (const lane of this.lanes.values()) {
      if (lane.priorities.length === 0 || lane.pausedUntil > now || this.isFull(lane)) continue;
      lane.running++;
      this.lanes.delete(lane.name); // to the end of the turns
      this.lanes.set(lane.name, lane);
      return takeOf(lane);
    }
    return undefined;
  }

  /** Ends the work on a session of a lane. */
  done(name: string | undefined): void {
    this.lane(name).running--;
  }

  /** Starts no session of a lane before a moment. */
  pause(name: string, until: Instant): void {
    const lane = this.lane(name);
    lane.pausedUntil = Math.max(lane.pausedUntil, until);
  }

  /** The earliest end of a pause after `now`. Forgets lanes without sessions. */
  nextEnd(now: Instant): Instant | undefined {
    let end: Instant | undefined;
    for (const { name, priorities, running, pausedUntil } of this.lanes.values()) {
      if (pausedUntil > now) end = Math.min(end ?? Infinity, pausedUntil);
      else if (running === 0 && priorities.length === 0) this.lanes.delete(name);
    }
    return end;
  }

  private isFull({ name, running }: Lane): boolean {
    return name !== undefined && running >= (this.limits[name]?.concurrency ?? Infinity);
  }

  private lane(name: string | undefined): Lane {
    const known = this.lanes.get(name);
    if (known) return known;
    const lane = { name, priorities: [], running: 0, pausedUntil: 0 };
    this.lanes.set(name, lane);
    return lane;
  }
}

/** Removes the first session of the group whose turn it is, among those of the highest priority. */
function takeOf({ priorities }: Lane): string {
  const { groups } = priorities[0] as Level;
  const [group, sessionIds] = groups.entries().next().value as [string | undefined, string[]];
  const sessionId = sessionIds.shift() as string;
  groups.delete(group);
  if (sessionIds.length > 0) groups.set(group, sessionIds); // to the end of the turns
  if (groups.size === 0) priorities.shift();
  return sessionId;
}
