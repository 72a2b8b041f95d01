import { mustBe, optionsCheck } from '../../../arguments.ts';
import type { Instant } from '../../../clock.ts';
import type { Schedule } from '../engine.ts';
import type { GroupLimits } from './group-limits.ts';

/** Limits of one lane. */
export interface LaneLimits {
  /** How many sessions of the lane are worked on at the same time; no limit when absent. */
  readonly concurrency?: number | undefined;
}

/** @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown limit or an invalid value. */
export function checkLanes(lanes: Readonly<Record<string, LaneLimits>>): void {
  const checkLane = optionsCheck<LaneLimits>('a lane', { concurrency: mustBe.wholeNumber(1) });
  for (const [name, limits] of Object.entries(lanes)) checkLane(limits, `lane "${name}"`);
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
 * others; so do the groups of a lane. A lane that is paused or at its limit is passed over, and so is a group at its limit.
 */
export class LaneTurns {
  private readonly lanes = new Map<string | undefined, Lane>();
  /** How many sessions of each group are worked on, in all lanes. */
  private readonly running = new Map<string, number>();
  private readonly limits: Readonly<Record<string, LaneLimits>>;
  private readonly groupLimits: GroupLimits;

  constructor(
    limits: Readonly<Record<string, LaneLimits>> = {},
    groupLimitsOfEngine: GroupLimits = () => Infinity,
  ) {
    this.limits = limits;
    this.groupLimits = groupLimitsOfEngine;
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

  /** The next session to work on; `undefined` when each lane is empty, paused or at a limit. */
  take(now: Instant): string | undefined {
    for (const lane of this.lanes.values()) {
      if (lane.pausedUntil > now || this.isFull(lane)) continue;
      const sessionId = this.takeOf(lane);
      if (sessionId === undefined) continue;
      lane.running++;
      this.lanes.delete(lane.name); // to the end of the turns
      this.lanes.set(lane.name, lane);
      return sessionId;
    }
    return undefined;
  }

  /** Ends the work on a session. */
  done({ lane, group }: Schedule): void {
    this.lane(lane).running--;
    if (group !== undefined) this.count(group, -1);
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

  /** Removes the first session of the group whose turn it is. Groups of a higher priority come first. */
  private takeOf({ priorities }: Lane): string | undefined {
    for (const [place, { groups }] of priorities.entries())
      for (const [group, sessionIds] of groups) {
        if (group !== undefined && this.runningOf(group) >= this.groupLimits(group)) continue;
        const sessionId = sessionIds.shift() as string;
        groups.delete(group);
        if (sessionIds.length > 0) groups.set(group, sessionIds); // to the end of the turns
        if (groups.size === 0) priorities.splice(place, 1);
        if (group !== undefined) this.count(group, 1);
        return sessionId;
      }
    return undefined;
  }

  private runningOf(group: string): number {
    return this.running.get(group) ?? 0;
  }

  private count(group: string, change: number): void {
    const running = this.runningOf(group) + change;
    if (running > 0) this.running.set(group, running);
    else this.running.delete(group);
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
