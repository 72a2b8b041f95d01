import { invalidArgument, systemClock } from '@holdfast/core';
import { callAfter } from '@holdfast/core/engine';
import type { Following, GroupLimits, LockedSession, WakeUp, WakeUpQueue } from '@holdfast/core/engine';
import type { Queue } from 'bullmq';
import { EngineScripts } from '../scripts/engine-scripts.ts';
import { duplicateOf } from '../server/connection.ts';
import type { EngineClient } from '../server/connection.ts';
import { GroupPlaces, groupOf } from './group-places.ts';
import { jobPriorityOf, LAST_TICKET, levelOf, levelOfJob, ticketOf } from './job-order.ts';
import type { BullmqLaneLimits } from './lane-limits.ts';
import { LaneQueue } from './lane-queue.ts';
import type { JobData, LaneQueueOptions, SessionJob } from './lane-queue.ts';
import { queueNames, sessionKeyOf } from './queue-names.ts';
import type { QueueNames } from './queue-names.ts';
import { TimerQueue } from './timer-queue.ts';

/** The options of the wake-ups of one engine. */
export interface BullmqWakeUpsOptions extends LaneQueueOptions {
  readonly name: string;
  readonly lanes: Readonly<Record<string, BullmqLaneLimits>>;
  /** How many sessions of a group all workers work on at the same time; no limit when absent. */
  readonly groupLimits?: GroupLimits | undefined;
}

/** A session whose job this process has. */
export interface BullmqLock extends LockedSession {
  readonly job: SessionJob;
  readonly laneQueue: LaneQueue;
  readonly sessionKey: string;
  /** The value of the lock of the session. */
  readonly holder: string;
  /** The wake-up of the job. */
  readonly wakeUp: WakeUp;
}

/** An idle worker looks for changes that it was not told of after this time in milliseconds. */
const LOOK_PAUSE = 5_000;
/** How many groups in which sessions wait a worker looks at each time. */
const GROUPS = 100;
/** Clocks differ: a wake-up for the end of another worker's lock comes so many milliseconds later. */
const LOCK_PAUSE = 1_000;

/** Each worker has a connection for each lane. */
const MOST_LANES = 100;

function tooManyLanes(lane: string | undefined): Error {
  const advice =
    'A lane is for a limit, such as that of a provider. For owners, set the group of their sessions.';
  return invalidArgument(
    `The lane "${lane}" is one too many: an engine has at most ${MOST_LANES} lanes. ${advice}`,
  );
}

/**
 * The wake-ups of an engine in BullMQ: a queue for each lane, and one for later instants. A job is a wake-up of a session,
 * and BullMQ has at most one waiting job of a session in a lane. A lock of the session's own, beside that of its job, keeps
 * workers of two lanes from the same session.
 */
export class BullmqWakeUps implements WakeUpQueue<BullmqLock> {
  readonly lockSeconds: number;
  private readonly options: BullmqWakeUpsOptions;
  private readonly names: QueueNames;
  private readonly scripts: EngineScripts;
  private readonly places: GroupPlaces;
  /** The next look at the groups in which sessions wait: a worker that gave back a place may have died before it woke them. */
  private freeAt = 0;
  private readonly timers: TimerQueue;
  /** The lanes in the order of their turns. */
  private readonly lanes = new Map<string | undefined, LaneQueue>();
  private readonly subscriber: EngineClient;
  /** The locks that `finish` ends. A renewal would lock their sessions again, for as long as the lock of a dead worker. */
  private readonly ending = new WeakSet<BullmqLock>();
  private opening: Promise<void> | undefined;
  /** True while `wait` waits: the engine can start the work on a session. */
  private isWaiting = false;
  private onChange = (): void => undefined;

  constructor(options: BullmqWakeUpsOptions) {
    const { client, prefix, name, lanes, lockSeconds, groupLimits = () => Infinity } = options;
    this.options = options;
    this.lockSeconds = lockSeconds;
    this.names = queueNames(prefix, name);
    this.scripts = new EngineScripts(client);
    this.places = new GroupPlaces(this.names, groupLimits, lockSeconds * 1_000);
    this.timers = new TimerQueue(this.names.timers, options);
    this.subscriber = duplicateOf(client);
    for (const lane of [undefined, ...Object.keys(lanes)]) this.laneQueue(lane);
  }

  /** Starts what workers need: the recovery of the jobs of dead workers, the timers, and the news about lanes. */
  async open(): Promise<void> {
    this.opening ??= this.start();
    await this.opening.catch((error: unknown) => {
      this.opening = undefined; // the next start may succeed
      throw error;
    });
  }

  /** The queues of BullMQ that this process knows. */
  get queues(): readonly Queue[] {
    return [this.timers.queue, ...[...this.lanes.values()].map(({ queue }) => queue)];
  }

  async close(): Promise<void> {
    this.subscriber.disconnect();
    await this.timers.close();
    await Promise.all([...this.lanes.values()].map((lane) => lane.close()));
  }

  async add(wakeUps: readonly WakeUp[]): Promise<void> {
    const now = Date.now();
    await Promise.all(
      wakeUps.map((wakeUp) =>
        wakeUp.at > now ? this.timers.add(sessionKeyOf(wakeUp.sessionId), wakeUp, now) : this.addDue(wakeUp),
      ),
    );
  }

  async take(): Promise<BullmqLock | undefined> {
    await this.freePlaces();
    for (;;) {
      const next = await this.nextJob();
      const lock = next && (await this.lock(...next));
      if (lock !== undefined || next === undefined) return lock;
    }
  }

  private async nextJob(): Promise<[lane: LaneQueue, job: SessionJob] | undefined> {
    const lanes = [...this.lanes.values()];
    for (const lane of lanes) {
      if (lane.opensAt > Date.now()) this.giveBack(lane); // the lane has paused since
      const job = lane.takeWaited();
      if (job) return [lane, job];
    }
    for (const lane of lanes) {
      const job = await lane.take(systemClock.newId());
      if (job) return [lane, job];
    }
    return undefined;
  }

  async wait(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const changed = Promise.withResolvers<void>();
    this.onChange = changed.resolve;
    this.isWaiting = true;
    const onAbort = (): void => changed.resolve();
    signal.addEventListener('abort', onAbort);
    const callOff = callAfter(systemClock, this.nextLookIn(), onAbort);
    for (const lane of this.lanes.values()) lane.waitForJob(systemClock.newId(), () => this.onJob(lane));
    await changed.promise;
    this.isWaiting = false;
    signal.removeEventListener('abort', onAbort);
    callOff();
    if (signal.aborted) for (const lane of this.lanes.values()) this.giveBack(lane);
  }

  async renew(locks: readonly BullmqLock[]): Promise<readonly BullmqLock[]> {
    const held = locks.filter((lock) => !this.ending.has(lock));
    const keys = held.flatMap(({ sessionKey, wakeUp: { group } }) => {
      const [busy = ''] = this.places.keysOf(group);
      return [this.names.lockOf(sessionKey), busy];
    });
    const holders = held.flatMap(({ sessionKey, holder, wakeUp: { group } }) => [
      holder,
      this.places.isLimited(group) ? sessionKey : '',
    ]);
    const taken = (await this.scripts.run('RENEW', keys, [this.lockSeconds * 1_000, ...holders])) as number[];
    const lost = new Set(taken.map((number) => held[number - 1]));
    for (const lane of new Set(locks.map(({ laneQueue }) => laneQueue))) {
      const ofLane = locks.filter(({ laneQueue }) => laneQueue === lane);
      const ids = await lane.renew(ofLane.map(({ job }) => job));
      for (const lock of ofLane) if (ids.includes(lock.job.id ?? '')) lost.add(lock);
    }
    return [...lost].filter((lock) => lock !== undefined);
  }

  /**
   * The job ends last: when the process dies before, BullMQ delivers the job again. The lock of the session ends first, so
   * that the wake-ups can start in other lanes.
   */
  async finish(lock: BullmqLock, { wakeUps, pause }: Following): Promise<void> {
    const { sessionId, sessionKey, holder, laneQueue, job, wakeUp } = lock;
    this.ending.add(lock);
    const [own, ...others] = wakeUps;
    if (own && !pause && isNextTurn(own, lock)) {
      await this.add(others);
      if (await this.putBack(own, lock)) return;
    }
    const keys = [
      this.names.lockOf(sessionKey),
      this.names.wantedOf(sessionKey),
      ...this.places.keysOf(wakeUp.group),
    ];
    const args = [holder, ...this.places.argsOf(wakeUp)];
    const [wanted = '', ...freed] = (await this.scripts.run('UNLOCK', keys, args)) as string[];
    if (pause) await this.pause(pause.lane, pause.until);
    for (const other of freed) await this.addDue(JSON.parse(other) as WakeUp);
    await this.add(wakeUps);
    if (wanted !== '') {
      const schedule = JSON.parse(wanted) as Omit<WakeUp, 'sessionId' | 'at'>;
      await this.addDue({ ...schedule, sessionId, at: Date.now() });
    }
    await laneQueue.complete(job);
  }

  /** Wakes sessions that wait for a place of their group, when a place is free. */
  private async freePlaces(): Promise<void> {
    const now = Date.now();
    if (this.options.groupLimits === undefined || this.freeAt > now) return;
    this.freeAt = now + LOOK_PAUSE;
    for (const name of await this.options.client.srandmember(this.names.groups, GROUPS)) {
      const group = groupOf(name);
      const args = this.places.argsOfGroup(group);
      const freed = (await this.scripts.run('FREE_PLACES', this.places.keysOf(group), args)) as string[];
      for (const wakeUp of freed) await this.addDue(JSON.parse(wakeUp) as WakeUp);
    }
  }

  private async start(): Promise<void> {
    const { subscriber } = this;
    subscriber.on('error', this.options.onError);
    subscriber.on('message', () => this.refreshSoon());
    subscriber.on('ready', () => this.refreshSoon()); // it may have missed messages
    await subscriber.subscribe(this.names.changes);
    await this.refresh();
    await this.timers.open((wakeUp) => this.addDue(wakeUp));
  }

  private refreshSoon(): void {
    this.refresh().catch(this.options.onError);
  }

  /** Reads the lanes and the ends of their pauses. */
  private async refresh(): Promise<void> {
    const lanes = await this.options.client.hgetall(this.names.lanes);
    for (const [lane, pausedUntil] of Object.entries(lanes))
      this.laneQueue(JSON.parse(lane) as string).pausedUntil = Number(pausedUntil);
    const laneQueues = [...this.lanes.values()]; // each take moves a lane
    for (const lane of laneQueues) {
      await lane.open();
      await lane.setLimits();
    }
    this.onChange();
  }

  private laneQueue(lane: string | undefined): LaneQueue {
    const known = this.lanes.get(lane);
    if (known) return known;
    if (this.lanes.size > MOST_LANES) throw tooManyLanes(lane);
    const limits = lane === undefined ? undefined : this.options.lanes[lane];
    const laneQueue = new LaneQueue(lane, this.names.queueOf(lane), limits, this.options);
    this.lanes.set(lane, laneQueue);
    return laneQueue;
  }

  private async addDue(wakeUp: WakeUp): Promise<void> {
    const { sessionId, lane, priority = 0, group } = wakeUp;
    const level = levelOf(priority);
    const { names, places } = this;
    const laneQueue = this.laneQueue(lane);
    const keys = [...names.turnsOf(lane, level), laneQueue.waitingKey, names.lanes, ...places.keysOf(group)];
    const args = [
      group ?? '',
      LAST_TICKET,
      lane === undefined ? '' : JSON.stringify(lane),
      names.changes,
      MOST_LANES,
      ...places.argsOf(wakeUp),
    ];
    const ticket = Number(await this.scripts.run('TAKE_TICKET', keys, args));
    if (ticket === 0) throw tooManyLanes(lane);
    if (ticket > 0) await laneQueue.add(sessionKeyOf(sessionId), wakeUp, jobPriorityOf(level, ticket));
  }

  /**
   * Locks the session of a job. Returns `undefined` when a worker has the session in another lane, or when its group is
   * full: then the job ends.
   */
  private async lock(laneQueue: LaneQueue, job: SessionJob): Promise<BullmqLock | undefined> {
    this.lanes.delete(laneQueue.lane); // to the end of the turns
    this.lanes.set(laneQueue.lane, laneQueue);
    const { deaths = 0, ...wakeUp } = job.data;
    const { sessionId, at, isRouted, ...schedule } = wakeUp;
    const sessionKey = sessionKeyOf(sessionId);
    const { names, lockSeconds, places } = this;
    const priority = job.priority;
    const [, served] = names.turnsOf(laneQueue.lane, levelOfJob(priority));
    const jobRef = JSON.stringify([laneQueue.lane ?? null, job.id]);
    const keys = [
      names.lockOf(sessionKey),
      names.wantedOf(sessionKey),
      served,
      ...places.keysOf(wakeUp.group),
    ];
    const wanted = JSON.stringify({ ...schedule, isRouted });
    const lockArgs = [jobRef, job.token ?? '', lockSeconds * 1_000, wanted, ticketOf(priority)];
    const args = [...lockArgs, ...places.argsOf(wakeUp)];
    const milliseconds = Number(await this.scripts.run('LOCK', keys, args));
    if (milliseconds === 0) {
      const holder = jobRef + job.token;
      return {
        sessionId,
        schedule,
        isRouted,
        dueAt: at,
        isRecovery: job.stalledCounter > deaths,
        job,
        laneQueue,
        sessionKey,
        holder,
        wakeUp,
      };
    }
    if (milliseconds > 0) await this.add([{ ...wakeUp, at: Date.now() + milliseconds + LOCK_PAUSE }]);
    await laneQueue.complete(job);
    return undefined;
  }

  /** Makes the job of a session that yields the job of its next turn. Returns false when that is not possible. */
  private async putBack(wakeUp: WakeUp, lock: BullmqLock): Promise<boolean> {
    const { lane, priority = 0, group } = wakeUp;
    const { sessionKey, holder, laneQueue, job } = lock;
    const { names, places } = this;
    const level = levelOf(priority);
    const data: JobData = { ...wakeUp, deaths: job.stalledCounter };
    const keys = [
      ...names.turnsOf(lane, level),
      laneQueue.waitingKey,
      names.lockOf(sessionKey),
      names.wantedOf(sessionKey),
      laneQueue.queue.toKey(job.id ?? ''),
      ...places.keysOf(lock.wakeUp.group),
    ];
    const turn = [group ?? '', LAST_TICKET, holder, JSON.stringify(data), jobPriorityOf(level, 0)];
    const args = [...turn, ...places.argsOf(lock.wakeUp)];
    const ticket = Number(await this.scripts.run('CONTINUE', keys, args));
    return ticket > 0 && laneQueue.putBack(job);
  }

  private async pause(lane: string, until: number): Promise<void> {
    this.laneQueue(lane).pausedUntil = Math.max(this.laneQueue(lane).pausedUntil, until);
    const { lanes, changes } = this.names;
    await this.scripts.run('PAUSE', [lanes], [JSON.stringify(lane), until, changes]);
  }

  /** Milliseconds until a pause or a rate limit ends, at most `LOOK_PAUSE`. */
  private nextLookIn(): number {
    const now = Date.now();
    const waits = [...this.lanes.values()].map(({ opensAt }) => opensAt - now).filter((wait) => wait > 0);
    return Math.min(LOOK_PAUSE, ...waits);
  }

  private onJob(laneQueue: LaneQueue): void {
    const isWanted = this.isWaiting;
    this.isWaiting = false; // a job of another lane, which comes at the same time, is for another worker
    if (isWanted) this.onChange();
    else this.giveBack(laneQueue);
  }

  /** Gives back a job that arrived while this process can start no work. */
  private giveBack(laneQueue: LaneQueue): void {
    const job = laneQueue.takeWaited();
    if (job === undefined) return;
    const returned = laneQueue.add(sessionKeyOf(job.data.sessionId), job.data, job.priority);
    returned.then(() => laneQueue.complete(job)).catch(this.options.onError);
  }
}

/** True for the wake-up of a session that has more work now, in the same lane. */
function isNextTurn({ sessionId, at, lane }: WakeUp, lock: BullmqLock): boolean {
  return sessionId === lock.sessionId && lane === lock.laneQueue.lane && at <= Date.now();
}
