import { secondsBetween, type Clock, type Instant } from '../../../clock.ts';
import type { AdvanceOutcome, AdvanceResult } from '../engine.ts';
import type { FollowUp, LockedSession } from '../wake-up-queue.ts';

/** How long sessions waited, from the instant when they were due to the start of the work. */
export interface WaitMetrics {
  readonly count: number;
  /** The sum of the waits. */
  readonly seconds: number;
}

/** The counters of one lane. */
export interface LaneMetrics {
  /** `undefined` for the sessions without a lane. */
  readonly lane: string | undefined;
  /** How often a worker took a session of the lane from the queue. */
  readonly taken: number;
  readonly waits: WaitMetrics;
  /** How often a rate limit paused the lane. */
  readonly pauses: number;
}

/** Counters of what an engine has done in this process since it was created, and its current numbers. */
export interface EngineMetrics {
  /** Advances, by outcome. An advance that threw has none. */
  readonly advances: Readonly<Record<AdvanceOutcome['type'], number>>;
  /** Closed steps of those advances, without the steps of subagents. */
  readonly steps: number;
  /** The sum of the durations of all advances. */
  readonly workSeconds: number;
  /** Advances that threw or returned an error. */
  readonly errors: number;
  /** Wake-ups of sessions that the store does not have: they were deleted, or another application shares the queue. */
  readonly unknownSessions: number;
  /** Errors of the engine's queue. */
  readonly queueErrors: number;
  /** Sessions that the queue delivered again, because their worker had died or was frozen. */
  readonly recoveries: number;
  /** Locks that this worker did not renew in time. */
  readonly lostLocks: number;
  /** Sessions that the engine works on now. */
  readonly sessionsInWork: number;
  /** The most sessions that the engine works on at the same time; 0 before `serve`. */
  readonly concurrency: number;
  readonly waits: WaitMetrics & {
    /** For each bound, the waits of at most so many seconds. */
    readonly buckets: readonly { readonly atMostSeconds: number; readonly count: number }[];
  };
  /** The first 100 lanes that the engine met. All others are together in one entry with the lane `(others)`. */
  readonly lanes: readonly LaneMetrics[];
}

const BOUNDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 600] as const;
const MAX_LANES = 100;
const OTHER_LANES = '(others)';
const OUTCOMES = ['finished', 'yield', 'sleep', 'throttled', 'suspended', 'isolate', 'lost'] as const;

export class EngineMeter {
  readonly counts = {
    steps: 0,
    workSeconds: 0,
    errors: 0,
    unknownSessions: 0,
    queueErrors: 0,
    recoveries: 0,
    lostLocks: 0,
    sessionsInWork: 0,
    concurrency: 0,
  };
  private readonly advances = new Map<AdvanceOutcome['type'], number>();
  private readonly buckets = BOUNDS.map((atMostSeconds) => ({ atMostSeconds, count: 0 }));
  private readonly lanes = new Map<
    string | undefined,
    { taken: number; pauses: number; waits: WaitMetrics }
  >();
  private readonly clock: Clock;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Counts a session that a worker took from the queue. */
  begin({ schedule, dueAt, isRecovery }: LockedSession): void {
    this.counts.sessionsInWork++;
    if (isRecovery) this.counts.recoveries++;
    const lane = this.lane(schedule.lane);
    lane.taken++;
    if (dueAt === undefined) return;
    const seconds = Math.max(0, secondsBetween(dueAt, this.clock.now()));
    lane.waits = { count: lane.waits.count + 1, seconds: lane.waits.seconds + seconds };
    for (const bucket of this.buckets) if (seconds <= bucket.atMostSeconds) bucket.count++;
  }

  /** Counts what follows from the work on a session. */
  follow({ pause }: FollowUp): void {
    if (pause) this.lane(pause.lane).pauses++;
  }

  end(): void {
    this.counts.sessionsInWork--;
  }

  /** Counts an advance. `result`: `undefined` when it threw. */
  addAdvance(startedAt: Instant, result: AdvanceResult | undefined): void {
    const { counts } = this;
    counts.workSeconds += Math.max(0, secondsBetween(startedAt, this.clock.now()));
    if (result === undefined || result.error !== undefined) counts.errors++;
    if (result === undefined) return;
    const { type } = result.outcome;
    if (result.isMissing) counts.unknownSessions++;
    this.advances.set(type, (this.advances.get(type) ?? 0) + 1);
    counts.steps += result.steps ?? 0;
  }

  read(): EngineMetrics {
    const lanes = [...this.lanes].map(([lane, counts]) => Object.freeze({ lane, ...counts }));
    const buckets = this.buckets.map((bucket) => Object.freeze({ ...bucket }));
    const advances = OUTCOMES.map((type) => [type, this.advances.get(type) ?? 0] as const);
    return Object.freeze({
      advances: Object.freeze(Object.fromEntries(advances)) as EngineMetrics['advances'],
      ...this.counts,
      waits: Object.freeze({
        count: sumOf(lanes, ({ waits }) => waits.count),
        seconds: sumOf(lanes, ({ waits }) => waits.seconds),
        buckets: Object.freeze(buckets),
      }),
      lanes: Object.freeze(lanes),
    });
  }

  private lane(lane: string | undefined): { taken: number; pauses: number; waits: WaitMetrics } {
    const isOther = !this.lanes.has(lane) && this.lanes.size >= MAX_LANES;
    const name = isOther ? OTHER_LANES : lane;
    const known = this.lanes.get(name);
    if (known) return known;
    const counts = { taken: 0, pauses: 0, waits: Object.freeze({ count: 0, seconds: 0 }) };
    this.lanes.set(name, counts);
    return counts;
  }
}

function sumOf<T>(values: readonly T[], numberOf: (value: T) => number): number {
  return values.reduce((sum, value) => sum + numberOf(value), 0);
}
