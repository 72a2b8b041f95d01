import type {
  FollowUp,
  GroupLimits,
  LaneBacklog,
  LockedSession,
  WakeUp,
  WakeUpQueue,
} from '@holdfast/core/engine';
import { HoldfastError } from '@holdfast/core';
import type { Queue } from 'bullmq';
import { EngineScripts, type SessionLock } from '../scripts/engine-scripts.ts';
import { duplicateOf, type EngineClient } from '../server/connection.ts';
import { queueReport, type QueueReport } from '../server/queue-report.ts';
import { QueueSettings, type SharedSettings } from './queue-settings.ts';
import { groupOf, GroupSlots } from '../layout/group-slots.ts';
import { tooManyLanes } from '../layout/lane-limits.ts';
import type { JobData, LaneQueue, SessionJob } from './lane-queue.ts';
import { LaneSet, type LaneSetOptions } from './lane-set.ts';
import { queueNames, sessionKeyOf, type QueueNames } from '../layout/queue-names.ts';
import { sessionIdOf } from '../layout/readable.ts';
import { TimerQueue } from './timer-queue.ts';
import { wholeMilliseconds } from '../layout/whole-milliseconds.ts';

/** The options of the wake-ups of one engine. */
export interface BullmqWakeUpsOptions extends Omit<LaneSetOptions, 'dropJob' | 'hasJob'>, SharedSettings {
  readonly name: string;
  /** How many sessions of a group all workers work on at the same time; no limit when absent. */
  readonly groupLimits?: GroupLimits | undefined;
  /** Receives what is wrong with the server or the settings when a worker starts. */
  readonly onWarning: (warning: string) => void;
}

/** A session whose job this process has. */
export interface BullmqLock extends LockedSession, SessionLock {
  readonly job: SessionJob;
  readonly laneQueue: LaneQueue;
}

/** The pause between two looks at the groups in which sessions wait. */
const GROUP_PAUSE_MS = 5_000;
/** The pause between two looks at the lanes: a connection can be silent without an error. */
const CATCH_UP_PAUSE_MS = 10_000;
/** How many groups in which sessions wait a worker looks at each time. */
const GROUPS = 100;
/** Clocks differ: a wake-up for the end of another worker's lock comes so much later. */
const LOCK_PAUSE_MS = 1_000;

/**
 * The wake-ups of an engine in BullMQ: a queue for each lane, and one for later instants. A job is a wake-up of a session,
 * and BullMQ has at most one waiting job of a session in a lane. A lock of the session's own, beside that of its job, keeps
 * workers of two lanes from the same session.
 */
export class BullmqWakeUps implements WakeUpQueue<BullmqLock> {
  readonly lockSeconds: number;
  readonly limitsGroups: boolean;
  private readonly options: BullmqWakeUpsOptions;
  private readonly names: QueueNames;
  private readonly scripts: EngineScripts;
  private readonly settings: QueueSettings;
  /** The next look at the groups in which sessions wait: a worker that gave back a slot may have died before it woke them. */
  private freeAt = 0;
  private catchUpAt = 0;
  private readonly timers: TimerQueue;
  private readonly lanes: LaneSet;
  private readonly subscriber: EngineClient;
  /** The locks that `finish` ends. A renewal would lock their sessions again, for as long as the lock of a dead worker. */
  private readonly ending = new WeakSet<BullmqLock>();
  private layoutCheck: Promise<void> | undefined;
  private opening: Promise<void> | undefined;

  constructor(options: BullmqWakeUpsOptions) {
    const { client, prefix, name, lockSeconds, groupLimits = () => Infinity } = options;
    this.options = options;
    this.lockSeconds = lockSeconds;
    this.limitsGroups = options.groupLimits !== undefined;
    this.names = queueNames(prefix, name);
    const slots = new GroupSlots(this.names, groupLimits, wholeMilliseconds(lockSeconds));
    this.scripts = new EngineScripts(client, this.names, slots);
    const location = { key: this.names.settings, name, prefix };
    this.settings = new QueueSettings(client, this.scripts, location, options);
    const dropJob = (base: string, token: string) => this.dropJob(base, token);
    const jobs = { ...options, dropJob, hasJob: (base: string) => this.scripts.hasJob(base) };
    this.timers = new TimerQueue(this.names.timers, this.scripts, jobs);
    this.lanes = new LaneSet(this.names, this.scripts, jobs);
    this.subscriber = duplicateOf(client);
    this.subscriber.on('error', options.onError);
    for (const event of ['message', 'ready'])
      this.subscriber.on(event, () => void this.catchUp().catch(options.onError));
  }

  /** Starts what workers need: the recovery of the jobs of dead workers, the timers, and the news about lanes. */
  async open(): Promise<undefined> {
    this.opening ??= this.start();
    await this.opening.catch((error: unknown) => {
      this.opening = undefined; // the next start may succeed
      throw error;
    });
  }

  /** The queues of BullMQ that this process knows. */
  get queues(): readonly Queue[] {
    return [this.timers.queue, ...this.lanes.queues];
  }

  /** @throws HoldfastError `QUEUE_UNSUITABLE` for a server that is too old, and for a queue of another layout. */
  async check(): Promise<QueueReport> {
    const { redisVersion, warnings } = await queueReport(this.options.client);
    return { redisVersion, warnings: [...warnings, ...(await this.settings.compare())] };
  }

  async close(): Promise<void> {
    this.subscriber.disconnect();
    await Promise.all([this.timers.close(), this.lanes.close()]);
  }

  async add(wakeUps: readonly WakeUp[]): Promise<void> {
    await this.checkLayout();
    const now = Date.now();
    await Promise.all(
      wakeUps.map((wakeUp) =>
        wakeUp.at > now ? this.timers.add(sessionKeyOf(wakeUp.sessionId), wakeUp, now) : this.addDue(wakeUp),
      ),
    );
  }

  async take(): Promise<BullmqLock | undefined> {
    this.catchUpRegularly();
    await this.freeSlots();
    for (;;) {
      const next = await this.lanes.nextJob();
      const lock = next && (await this.lock(...next));
      if (lock !== undefined || next === undefined) return lock;
    }
  }

  async wait(signal: AbortSignal): Promise<void> {
    await this.lanes.wait(signal);
  }

  mayContinue({ laneQueue, schedule }: BullmqLock): boolean {
    return laneQueue.isOpen && (!this.limitsGroups || schedule.group === undefined);
  }

  async trace<T>({ laneQueue, job }: BullmqLock, work: () => Promise<T>): Promise<T> {
    return laneQueue.trace(job, work);
  }

  async backlog(): Promise<readonly LaneBacklog[]> {
    return this.lanes.backlog();
  }

  async renew(locks: readonly BullmqLock[]): Promise<readonly BullmqLock[]> {
    const held = locks.filter((lock) => !this.ending.has(lock));
    const lost = new Set(await this.scripts.renew(held));
    for (const lane of new Set(locks.map(({ laneQueue }) => laneQueue))) {
      const ofLane = locks.filter(({ laneQueue }) => laneQueue === lane);
      const ids = await lane.renew(ofLane.map(({ job }) => job));
      for (const lock of ofLane) if (ids.includes(lock.job.id ?? '')) lost.add(lock);
    }
    return [...lost];
  }

  /**
   * The job ends last: when the process dies before, BullMQ delivers the job again. The lock of the session ends first, so
   * that the wake-ups can start in other lanes.
   */
  async finish(lock: BullmqLock, { wakeUps, pause }: FollowUp): Promise<void> {
    const [own, ...others] = wakeUps;
    const add = (added: readonly WakeUp[]) => lock.laneQueue.inTraceOf(lock.job, () => this.add(added));
    this.ending.add(lock);
    let rest = wakeUps;
    if (own && !pause && isNextTurn(own, lock)) {
      await add(others);
      if (await this.putBack(own, lock)) return;
      rest = [own];
    }
    const freed = await this.scripts.unlock(lock, Date.now());
    if (pause) await this.lanes.pause(pause.lane, pause.until);
    await this.add(freed); // of other sessions
    await add(rest);
    await lock.laneQueue.complete(lock.job);
  }

  /** Wakes sessions that wait for a slot of their group, when a slot is free. */
  private async freeSlots(): Promise<void> {
    const now = Date.now();
    if (!this.limitsGroups || this.freeAt > now) return;
    this.freeAt = now + GROUP_PAUSE_MS;
    const { client } = this.options;
    const { groups } = this.names;
    for (const name of await client.srandmember(groups, GROUPS)) {
      const group = groupOf(name);
      if (group === undefined) await client.srem(groups, name);
      else for (const wakeUp of await this.scripts.freeSlots(group)) await this.addDue(wakeUp);
    }
  }

  private async start(): Promise<void> {
    const { warnings } = await queueReport(this.options.client);
    for (const warning of [...warnings, ...(await this.settings.start())]) this.options.onWarning(warning);
    await this.subscriber.subscribe(this.names.changes);
    await this.lanes.open();
    await this.timers.open((wakeUp) => this.addDue(wakeUp));
  }

  /** Reads the lanes again. The connection may have missed messages, and the server may have lost its data. */
  private async catchUp(): Promise<void> {
    if (this.opening === undefined) return;
    await this.lanes.refresh();
    await this.settings.restore();
  }

  /** Drops a job that no worker can read, and wakes its session when the job has its name. Otherwise a sweep wakes it. */
  private async dropJob(base: string, token: string): Promise<void> {
    const sessionId = sessionIdOf(await this.scripts.dropJob(base, token));
    this.options.onError(damagedJob(this.options.name, sessionId));
    if (sessionId !== undefined) await this.add([{ sessionId, at: Date.now() }]);
  }

  private catchUpRegularly(): void {
    const now = Date.now();
    if (this.catchUpAt > now) return;
    this.catchUpAt = now + CATCH_UP_PAUSE_MS;
    this.catchUp().catch(this.options.onError);
  }

  private async checkLayout(): Promise<void> {
    this.layoutCheck ??= this.settings.checkLayout();
    await this.layoutCheck.catch((error: unknown) => {
      this.layoutCheck = undefined; // the server may have been away
      throw error;
    });
  }

  private async addDue(wakeUp: WakeUp): Promise<void> {
    const ticket = await this.scripts.takeTicket(wakeUp);
    if (ticket === 'tooManyLanes') throw tooManyLanes(wakeUp.lane);
    if (ticket === 'waitsForSlot') return;
    const laneQueue = this.lanes.get(wakeUp.lane);
    await laneQueue.add(sessionKeyOf(wakeUp.sessionId), wakeUp, ticket.jobPriority);
  }

  /**
   * Locks the session of a job. Returns `undefined` when a worker has the session in another lane, or when its group is
   * full: then the job ends. Also when another worker has the job: then the job stays.
   */
  private async lock(laneQueue: LaneQueue, job: SessionJob): Promise<BullmqLock | undefined> {
    const { deaths = 0, ...wakeUp } = job.data;
    const { id = '', token = '', priority } = job;
    const lockKey = `${laneQueue.queue.toKey(id)}:lock`;
    const facts = { lane: laneQueue.lane, id, token, priority, lockKey };
    const outcome = await this.scripts.lock(wakeUp, facts);
    if (typeof outcome === 'object' && 'lockValue' in outcome) {
      const { sessionId, at: dueAt, isRouted, ...schedule } = wakeUp;
      const isRecovery = job.stalledCounter > deaths;
      const sessionKey = sessionKeyOf(sessionId);
      const { lockValue } = outcome;
      return {
        sessionId,
        schedule,
        isRouted,
        dueAt,
        isRecovery,
        job,
        laneQueue,
        sessionKey,
        lockValue,
        wakeUp,
      };
    }
    if (outcome === 'hasAnotherWorker') {
      laneQueue.forget();
      return undefined;
    }
    if (outcome !== 'waitsForSlot') {
      const at = Date.now() + outcome.lockedForMilliseconds + LOCK_PAUSE_MS;
      await laneQueue.inTraceOf(job, () => this.add([{ ...wakeUp, at }]));
    }
    await laneQueue.complete(job);
    return undefined;
  }

  /** Makes the job of a session that yields the job of its next turn. Returns false when that is not possible. */
  private async putBack(next: WakeUp, lock: BullmqLock): Promise<boolean> {
    const { laneQueue, job } = lock;
    const data: JobData = { ...next, deaths: job.stalledCounter };
    const jobKey = laneQueue.queue.toKey(job.id ?? '');
    const isChanged = await this.scripts.continueJob(lock, next, { job: jobKey, data });
    return isChanged && laneQueue.putBack(job);
  }
}

function damagedJob(name: string, sessionId: string | undefined): HoldfastError {
  const found = `A job of the queue "${name}" has no wake-up that can be read`;
  const next =
    sessionId === undefined
      ? 'It was removed. A sweep wakes its session.'
      : `It was removed, and the session "${sessionId}" was woken.`;
  return new HoldfastError('QUEUE_DAMAGED', `${found}: its keys were deleted or changed. ${next}`, {
    data: { queue: name, ...(sessionId !== undefined && { sessionId }) },
  });
}

/** True for the wake-up of a session that has more work now, in the same lane. */
function isNextTurn({ sessionId, at, lane }: WakeUp, lock: BullmqLock): boolean {
  return sessionId === lock.sessionId && lane === lock.laneQueue.lane && at <= Date.now();
}
