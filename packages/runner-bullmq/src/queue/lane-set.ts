import { systemClock, type Instant } from '@holdfast/core';
import { callAfter, type LaneBacklog } from '@holdfast/core/engine';
import type { Queue } from 'bullmq';
import type { EngineScripts } from '../scripts/engine-scripts.ts';
import type { BullmqLaneLimits } from '../layout/lane-limits.ts';
import { LaneQueue, type LaneQueueOptions, type SessionJob } from './lane-queue.ts';
import type { QueueNames } from '../layout/queue-names.ts';
import { readJson } from '../layout/readable.ts';

/** The options of the lanes of one engine. */
export interface LaneSetOptions extends LaneQueueOptions {
  /** The limits of lanes, by the name of the lane. */
  readonly lanes: Readonly<Record<string, BullmqLaneLimits>>;
}

/** An idle worker looks for jobs that it was not told of after this time. */
const LOOK_PAUSE_MS = 5_000;

/** The lanes that this process knows, which take turns. All processes learn of a new lane and of a pause. */
export class LaneSet {
  private readonly options: LaneSetOptions;
  private readonly names: QueueNames;
  private readonly scripts: EngineScripts;
  /** In the order of their turns. */
  private readonly lanes = new Map<string | undefined, LaneQueue>();
  private isOpen = false;
  /** True while `wait` waits: the engine can start the work on a session. */
  private isWaiting = false;
  private onChange = (): void => undefined;

  constructor(names: QueueNames, scripts: EngineScripts, options: LaneSetOptions) {
    this.options = options;
    this.names = names;
    this.scripts = scripts;
    for (const lane of [undefined, ...Object.keys(options.lanes)]) this.get(lane);
  }

  /** The queues of BullMQ. */
  get queues(): readonly Queue[] {
    return this.all().map(({ queue }) => queue);
  }

  get(lane: string | undefined): LaneQueue {
    const known = this.lanes.get(lane);
    if (known) return known;
    const limits = lane === undefined ? undefined : this.options.lanes[lane];
    const laneQueue = new LaneQueue(lane, this.names.queueOf(lane), limits, this.options);
    this.lanes.set(lane, laneQueue);
    if (this.isOpen) laneQueue.open().catch(this.options.onError); // before the message about the lane arrives
    return laneQueue;
  }

  /** Starts to recover the jobs of dead workers. */
  async open(): Promise<void> {
    await this.removeUnused();
    await this.refresh();
    this.isOpen = true;
    for (const lane of this.all()) await lane.open();
  }

  async close(): Promise<void> {
    this.isOpen = false;
    await Promise.all(this.all().map((lane) => lane.close()));
  }

  /** Reads which lanes there are, and the ends of their pauses. */
  async refresh(): Promise<void> {
    const members = Object.entries(await this.options.client.hgetall(this.names.lanes));
    const lanes = new Map(
      members.flatMap(([member, pausedUntil]) => laneOf(member).map((lane) => [lane, pausedUntil])),
    );
    for (const [lane, pausedUntil] of lanes) this.get(lane).pausedUntil = Number(pausedUntil) || 0;
    await this.forgetOthers(lanes);
    this.onChange();
  }

  /** Starts no session of a lane before an instant. */
  async pause(lane: string, until: Instant): Promise<void> {
    const laneQueue = this.get(lane);
    laneQueue.pausedUntil = Math.max(laneQueue.pausedUntil, until);
    await this.scripts.pause(lane, until);
  }

  /** Takes the next job, of the lane whose turn it is. */
  async nextJob(): Promise<readonly [lane: LaneQueue, job: SessionJob] | undefined> {
    for (const lane of this.all()) {
      if (lane.opensAt > Date.now()) this.giveBack(lane); // the lane has paused since
      const job = lane.takeWaited();
      if (job) return this.turn(lane, job);
    }
    for (const lane of this.all()) {
      const job = await lane.take(systemClock.newId());
      if (job) return this.turn(lane, job);
    }
    return undefined;
  }

  /** Resolves when `nextJob` may find a job, and when the signal aborts. */
  async wait(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const changed = Promise.withResolvers<void>();
    this.onChange = changed.resolve;
    this.isWaiting = true;
    const onAbort = (): void => changed.resolve();
    signal.addEventListener('abort', onAbort);
    const callOff = callAfter(systemClock, this.nextLookIn(), onAbort);
    for (const lane of this.all()) lane.waitForJob(systemClock.newId(), () => this.onJob(lane));
    await changed.promise;
    this.isWaiting = false;
    signal.removeEventListener('abort', onAbort);
    callOff();
    if (signal.aborted) for (const lane of this.all()) this.giveBack(lane);
  }

  /** Returns what waits in each lane. */
  async backlog(): Promise<readonly LaneBacklog[]> {
    await this.refresh();
    return Promise.all(this.all().map(async (lane) => lane.backlog()));
  }

  private all(): readonly LaneQueue[] {
    return [...this.lanes.values()]; // a turn changes the order
  }

  private turn(lane: LaneQueue, job: SessionJob): readonly [lane: LaneQueue, job: SessionJob] {
    this.lanes.delete(lane.lane); // to the end of the turns
    this.lanes.set(lane.lane, lane);
    return [lane, job];
  }

  /** Forgets lanes without a job for a day. There may be a hundred names at a time, and any number over the years. */
  private async removeUnused(): Promise<void> {
    const { client, lanes: own } = this.options;
    const lanes = (await client.hkeys(this.names.lanes)).flatMap(laneOf);
    const others = lanes.filter((lane) => !Object.hasOwn(own, lane));
    await Promise.all(
      others.map(async (lane) => {
        if (await this.scripts.removeLane(lane, this.get(lane).jobKeys, Date.now())) await this.drop(lane);
      }),
    );
  }

  /** Closes the lanes that the server has forgotten, and of which this process has no job. */
  private async forgetOthers(known: ReadonlyMap<string, unknown>): Promise<void> {
    for (const { lane, isIdle } of this.all())
      if (lane !== undefined && isIdle && !known.has(lane) && !Object.hasOwn(this.options.lanes, lane))
        await this.drop(lane);
  }

  private async drop(lane: string): Promise<void> {
    const laneQueue = this.get(lane);
    this.lanes.delete(lane);
    await laneQueue.close();
  }

  /** Milliseconds until a pause or a rate limit ends, at most `LOOK_PAUSE_MS`. */
  private nextLookIn(): number {
    const now = Date.now();
    const waits = this.all()
      .map(({ opensAt }) => opensAt - now)
      .filter((wait) => wait > 0);
    return Math.min(LOOK_PAUSE_MS, ...waits);
  }

  private onJob(lane: LaneQueue): void {
    const isWanted = this.isWaiting;
    this.isWaiting = false; // a job of another lane, which comes at the same time, is for another worker
    if (isWanted) this.onChange();
    else this.giveBack(lane);
  }

  /** Gives back a job that arrived while this process can start no work. */
  private giveBack(lane: LaneQueue): void {
    const job = lane.takeWaited();
    if (job) lane.giveBack(job).catch(this.options.onError);
  }
}

/** Returns the lane of a member of the hash, or nothing for a member that no worker has stored. */
function laneOf(member: string): readonly string[] {
  const lane = readJson(member);
  return typeof lane === 'string' ? [lane] : [];
}
