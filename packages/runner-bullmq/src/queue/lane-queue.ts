import { setTimeout } from 'node:timers/promises';
import { systemClock, type Instant } from '@holdfast/core';
import type { LaneBacklog, WakeUp } from '@holdfast/core/engine';
import { ErrorCode, Queue, SpanKind, type Job, type Telemetry } from 'bullmq';
import type { EngineClient } from '../server/connection.ts';
import type { BullmqLaneLimits } from '../layout/lane-limits.ts';
import { sessionKeyOf } from '../layout/queue-names.ts';
import { isWakeUp } from '../layout/readable.ts';
import { WakeUpWorker, type WakeUpWorkerOptions } from './wake-up-worker.ts';
import { wholeMilliseconds } from '../layout/whole-milliseconds.ts';

/** The data of a job: the session to look at. */
export interface JobData extends WakeUp {
  /** How often the job had lost its worker when this wake-up was stored. */
  readonly deaths?: number | undefined;
}

export type SessionJob = Job<JobData, void>;

/** The options of the BullMQ queue of a lane. */
export interface LaneQueueOptions {
  readonly client: EngineClient;
  readonly prefix: string;
  readonly lockSeconds: number;
  readonly stalledSeconds: number;
  readonly telemetry?: Telemetry | undefined;
  readonly onError: (error: Error) => void;
  /** Removes a job that a worker cannot read, and wakes its session if it has a name. */
  readonly dropJob: WakeUpWorkerOptions['dropJob'];
  /** True when a job waits in a lane. `base` is the beginning of BullMQ's keys. */
  readonly hasJob: (base: string) => Promise<boolean>;
}

/** A job that an idle worker waits for. */
interface Wait {
  job: SessionJob | undefined;
}

/** The longest time that a worker waits for a job before it looks again. */
const DRAIN_SECONDS = 2;
/** BullMQ gives a job up after so many deaths of its worker. The runtime counts the deaths itself. */
export const ANY_NUMBER = 2 ** 31;
/** The pause before a busy worker looks into an empty lane again. */
const EMPTY_PAUSE_MS = 100;
/** A lane to which this process has added no job for so long is idle. */
const QUIET_MS = 60_000;
/**
 * BullMQ has not waited when it replies in less than this time. It replies at once after the last job, and to the news of a
 * job that another worker has taken. After so many quick replies, the lane is at a limit.
 */
const SOON_MS = 50;
const QUICK_REPLIES = 5;
/** The time that a worker rests after its last job, so that the jobs of a busy lane come in groups. */
const REST_MS = 10;

/** The wake-ups of one lane, as jobs of one BullMQ queue. */
export class LaneQueue {
  readonly lane: string | undefined;
  /** No session of the lane starts before. */
  pausedUntil: Instant = 0;
  private readonly name: string;
  private readonly options: LaneQueueOptions;
  readonly queue: Queue<JobData, void>;
  private readonly limits: BullmqLaneLimits | undefined;
  private worker: WakeUpWorker<JobData> | undefined;
  private wait: Wait | undefined;
  /** True when a job may be there although a worker waits for one: the lane was at its limit. */
  private mustLook = true;
  private limitedUntil = 0;
  /** True when the worker has taken a job since it last waited for one. */
  private hasTaken = false;
  /** True when it has waited for the job that it took last, which then is probably the only one. */
  private hasWaited = false;
  private isClosed = false;
  /** The jobs that this process has taken and not ended. */
  private inWork = 0;
  private usedAt: Instant = Date.now();
  /** Until then, a busy worker does not ask the empty lane again. An idle worker waits for its jobs. */
  private emptyUntil = 0;

  constructor(
    lane: string | undefined,
    name: string,
    limits: BullmqLaneLimits | undefined,
    options: LaneQueueOptions,
  ) {
    const { client: connection, prefix, telemetry, onError } = options;
    this.lane = lane;
    this.name = name;
    this.limits = limits;
    this.options = options;
    const streams = { events: { maxLen: 1_000 } };
    this.queue = new Queue(name, {
      connection,
      prefix,
      streams,
      skipVersionCheck: true,
      ...(telemetry && { telemetry }),
    });
    this.queue.on('error', onError);
  }

  /** The keys of BullMQ that exist while the lane has a job. */
  get jobKeys(): readonly string[] {
    return ['prioritized', 'active', 'wait', 'paused', 'delayed'].map((name) => this.queue.toKey(name));
  }

  /** Returns the number of jobs that wait, and since when the next one is due. */
  async backlog(): Promise<LaneBacklog> {
    const { lane, queue } = this;
    const first = queue.getPrioritized(0, 0).catch(ignoreDamage);
    const [waiting, [next]] = await Promise.all([queue.getPrioritizedCount(), first]);
    return { lane, waiting, since: isWakeUp(next?.data) ? next.data.at : undefined };
  }

  /** Calls `work` in the span of a job, which belongs to the span in which the job was added. */
  async trace<T>(job: SessionJob, work: () => Promise<T>): Promise<T> {
    const { name } = this.queue;
    return this.queue.trace(SpanKind.CONSUMER, 'process', name, work, job.opts.telemetry?.metadata);
  }

  /** Calls `work` in the trace of a job, to which the jobs that it adds belong. */
  async inTraceOf<T>(job: SessionJob, work: () => Promise<T>): Promise<T> {
    const metadata = job.opts.telemetry?.metadata;
    const contexts = this.options.telemetry?.contextManager;
    if (contexts === undefined || metadata === undefined) return work();
    return contexts.with(contexts.fromMetadata(contexts.active(), metadata), work);
  }

  /**
   * Adds a job, unless one of the session waits already. While a job of the session is active, BullMQ stores the last such
   * request, and adds its job as soon as the active one ends.
   */
  async add(sessionKey: string, data: JobData, priority: number): Promise<void> {
    this.usedAt = Date.now();
    await this.queue.add('session', data, {
      jobId: systemClock.newId(), // BullMQ's counter begins anew when its key is deleted, with ids that are in use
      priority,
      deduplication: { id: sessionKey, keepLastIfActive: true },
      removeOnComplete: true,
      removeOnFail: true,
    });
    this.emptyUntil = 0;
  }

  /** Starts to recover the jobs of dead workers. */
  async open(): Promise<void> {
    if (this.worker) return;
    const { client: connection, prefix, lockSeconds, stalledSeconds, dropJob, onError } = this.options;
    const worker = new WakeUpWorker<JobData>(this.name, null, {
      dropJob,
      connection,
      prefix,
      autorun: false,
      lockDuration: wholeMilliseconds(lockSeconds),
      stalledInterval: wholeMilliseconds(stalledSeconds),
      maxStalledCount: ANY_NUMBER,
      drainDelay: DRAIN_SECONDS,
      skipVersionCheck: true, // no telemetry: each look for a job would be a span
    });
    this.worker = worker;
    worker.on('error', onError);
    await worker.startStalledCheckTimer();
  }

  /** Returns the job for which `waitForJob` has waited. */
  takeWaited(): SessionJob | undefined {
    const job = this.wait?.job;
    if (job === undefined) return undefined;
    this.wait = undefined;
    this.hasWaited = true;
    this.noteTaken();
    return job;
  }

  private noteTaken(): void {
    this.inWork++;
    this.hasTaken = true;
  }

  /** Takes the next job, without waiting for one. */
  async take(token: string): Promise<SessionJob | undefined> {
    const now = Date.now();
    if (!this.worker || this.opensAt > now || (!this.mustLook && (this.wait || this.emptyUntil > now)))
      return undefined;
    this.mustLook = false;
    this.emptyUntil = now + EMPTY_PAUSE_MS; // before the request, so that it does not hide a job that is added meanwhile
    const { hasWaited, worker } = this;
    this.hasWaited = false;
    if (hasWaited && !(await this.options.hasJob(this.queue.toKey('')))) return worker.noteEmpty();
    const job = await worker.getNextJob(token, { block: false });
    if (job) {
      this.emptyUntil = 0;
      this.noteTaken();
    } else if (this.limits?.rate) await this.noteRate(0);
    return job;
  }

  /**
   * Waits for a job on a connection of its own, until there is one, or for some seconds. `onJob` is called for a job, and
   * when the time is over.
   */
  waitForJob(token: string, onJob: () => void): void {
    if (this.wait || !this.worker || this.opensAt > Date.now()) return;
    const wait: Wait = { job: undefined };
    this.wait = wait;
    void this.waitWith(wait, this.nextJob(token, this.worker), onJob);
  }

  private async waitWith(
    wait: Wait,
    next: Promise<SessionJob | undefined>,
    onJob: () => void,
  ): Promise<void> {
    wait.job = await next;
    if (wait.job === undefined && this.wait === wait) this.wait = undefined;
    onJob();
  }

  private async nextJob(token: string, worker: WakeUpWorker<JobData>): Promise<SessionJob | undefined> {
    try {
      if (this.hasTaken) await setTimeout(REST_MS);
      this.hasTaken = false;
      for (let replies = 1; !this.isClosed; replies++) {
        const start = performance.now();
        const job = await worker.getNextJob(token, { block: true });
        if (job || this.isClosed) return job;
        this.emptyUntil = Date.now() + EMPTY_PAUSE_MS; // BullMQ has looked
        const hasWaited = performance.now() - start >= SOON_MS;
        if (!hasWaited && replies < QUICK_REPLIES) continue;
        if (!hasWaited || this.limits?.rate) await this.noteRate(hasWaited ? 0 : SOON_MS);
        return undefined;
      }
    } catch (error) {
      if (!this.isClosed) this.options.onError(error as Error);
    }
    return undefined;
  }

  /** The instant at which a pause or the rate limit of the lane ends. */
  get opensAt(): Instant {
    return Math.max(this.pausedUntil, this.limitedUntil);
  }

  /** True when the lane has no limit and no pause. */
  get isOpen(): boolean {
    return this.limits === undefined && this.opensAt <= Date.now();
  }

  /** Renews the locks of jobs. Returns the ids of the jobs whose lock has ended. */
  async renew(jobs: readonly SessionJob[]): Promise<readonly string[]> {
    const ids = jobs.map(({ id }) => id ?? '');
    const tokens = jobs.map(({ token }) => token ?? '');
    return (
      (await this.worker?.extendJobLocks(ids, tokens, wholeMilliseconds(this.options.lockSeconds))) ?? []
    );
  }

  /** Lets a job wait for its next turn. Returns false when another worker has it. */
  async putBack(job: SessionJob): Promise<boolean> {
    this.mustLook = true;
    try {
      await job.moveToWait(job.token);
      this.inWork--;
    } catch (error) {
      if (isLockLost(error)) return false;
      throw error;
    }
    await this.wakeIdleWorker(); // BullMQ does it for a job that is added, and not for this one
    return true;
  }

  /** Lets an idle worker of any process look for a job. */
  private async wakeIdleWorker(): Promise<void> {
    await this.options.client.zadd(this.queue.toKey('marker'), 0, '0');
  }

  /** Forgets a job that another worker has. */
  forget(): void {
    this.inWork--;
  }

  /** Ends a job. Another worker has it when its lock has ended: then it stays. */
  async complete(job: SessionJob): Promise<void> {
    this.mustLook = true;
    this.inWork--;
    try {
      await job.moveToCompleted(undefined, job.token ?? '', false);
      if (this.limits?.concurrency) await this.wakeIdleWorker(); // for the next job of a lane that was at its limit
    } catch (error) {
      if (!isLockLost(error)) throw error;
    }
  }

  /** Lets a job wait again that this process cannot work on now. */
  async giveBack(job: SessionJob): Promise<void> {
    const data = { ...job.data, deaths: 0 }; // the new job has lost no worker
    await this.inTraceOf(job, () => this.add(sessionKeyOf(data.sessionId), data, job.priority));
    await this.complete(job);
  }

  /** True when this process has no job of the lane, and has added none for a while. */
  get isIdle(): boolean {
    const isQuiet = this.usedAt < Date.now() - QUIET_MS;
    return isQuiet && this.inWork === 0 && this.wait?.job === undefined;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.worker?.close(true);
    await this.queue.close();
  }

  /** Reads how long the rate limit holds the lane up: `atLeast` milliseconds, when BullMQ does not wait by itself. */
  private async noteRate(atLeast: number): Promise<void> {
    const milliseconds = Math.max(await this.queue.getRateLimitTtl(), atLeast);
    this.limitedUntil = milliseconds > 0 ? Date.now() + milliseconds : 0;
  }
}

/** A job that cannot be read is dropped when its turn comes. */
function ignoreDamage(error: unknown): readonly [] {
  if (error instanceof SyntaxError) return [];
  throw error;
}

/** BullMQ's errors for a job that another worker has, or that was removed. */
const NOT_OURS: readonly unknown[] = [
  ErrorCode.JobNotExist,
  ErrorCode.JobLockNotExist,
  ErrorCode.JobNotInState,
  ErrorCode.JobLockMismatch,
];

function isLockLost(error: unknown): boolean {
  return error instanceof Error && 'code' in error && NOT_OURS.includes(error.code);
}
