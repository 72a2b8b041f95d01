import { createHash } from 'node:crypto';
import type { Instant } from '@holdfast/core';
import type { WakeUp } from '@holdfast/core/engine';
import type { GroupSlots } from '../layout/group-slots.ts';
import { jobPriorityOf, LAST_TICKET, levelOf, levelOfJob, ticketOf } from '../layout/job-order.ts';
import { MOST_LANES, type BullmqLaneLimits } from '../layout/lane-limits.ts';
import { sessionKeyOf, type QueueNames } from '../layout/queue-names.ts';
import { wakeUpOf, wakeUpsOf } from '../layout/readable.ts';
import { wholeMilliseconds } from '../layout/whole-milliseconds.ts';
import type { EngineClient } from '../server/connection.ts';
import { LUA } from './lua.ts';

const GROUP_SLOTS = LUA['dead-jobs'] + LUA['group-slots'];

/** The scripts, with the texts of the functions that they call. */
const SCRIPTS = {
  takeTicket: GROUP_SLOTS + LUA.tickets + LUA['take-ticket'],
  continue: GROUP_SLOTS + LUA.tickets + LUA.continue,
  lock: GROUP_SLOTS + LUA.lock,
  renew: LUA.renew,
  unlock: GROUP_SLOTS + LUA.unlock,
  freeSlots: GROUP_SLOTS + LUA['free-slots'],
  dropJob: LUA['drop-job'],
  hasJob: LUA['has-job'],
  forgetTimer: LUA['dead-jobs'] + LUA['forget-timer'],
  pause: LUA.pause,
  removeLane: LUA['remove-lane'],
  shareSettings: LUA['share-settings'],
};

type Script = keyof typeof SCRIPTS;
type Arguments = readonly (string | number)[];

/** A lane with its limits. */
export type LimitedLane = readonly [lane: string, limits: BullmqLaneLimits];

/** The lock of a session that a job has. */
export interface SessionLock {
  readonly sessionKey: string;
  /** The value of the lock. */
  readonly lockValue: string;
  /** The wake-up of the job. */
  readonly wakeUp: WakeUp;
}

/** A job of BullMQ, for a script. */
export interface JobFacts {
  readonly lane: string | undefined;
  readonly id: string;
  readonly token: string;
  readonly priority: number;
  /** The key of BullMQ's lock of the job. */
  readonly lockKey: string;
}

/** The outcome of `takeTicket`. */
export type Ticket = { readonly jobPriority: number } | 'tooManyLanes' | 'waitsForSlot';

/** The outcome of `lock`. */
export type LockOutcome =
  | { readonly lockValue: string }
  | { readonly lockedForMilliseconds: number }
  | 'waitsForSlot'
  | 'hasAnotherWorker';

/** The scripts that the server runs as one effect each, in Lua. Each `.lua` file describes its keys, its arguments and its reply. */
export class EngineScripts {
  private readonly client: EngineClient;
  private readonly names: QueueNames;
  private readonly slots: GroupSlots;

  constructor(client: EngineClient, names: QueueNames, slots: GroupSlots) {
    this.client = client;
    this.names = names;
    this.slots = slots;
    for (const [name, lua] of Object.entries(SCRIPTS))
      client.defineCommand(COMMANDS[name as Script], { lua });
  }

  /** Gives a wake-up its position among those of its lane. */
  async takeTicket(wakeUp: WakeUp): Promise<Ticket> {
    const { lane, priority = 0, group } = wakeUp;
    const { names, slots } = this;
    const level = levelOf(priority);
    const ofLane = [...names.turnsOf(lane, level), names.waitingOf(lane)];
    const keys = [...ofLane, names.lanes, ...slots.keysOf(group)];
    const turns = [group ?? '', LAST_TICKET];
    const known = [lane === undefined ? '' : JSON.stringify(lane), names.changes, MOST_LANES];
    const job = [names.baseOf(lane), sessionKeyOf(wakeUp.sessionId)];
    const args = [...turns, ...known, ...job, ...slots.argsOf(wakeUp)];
    const ticket = Number(await this.run('takeTicket', keys, args));
    if (ticket === 0) return 'tooManyLanes';
    return ticket < 0 ? 'waitsForSlot' : { jobPriority: jobPriorityOf(level, ticket) };
  }

  /**
   * Ends a lock, and makes its job that of the next wake-up of the session in the same lane. `job` is the key of the job.
   * Returns false when that is not possible.
   */
  async continueJob(
    { sessionKey, lockValue, wakeUp: last }: SessionLock,
    next: WakeUp,
    { job, data }: { readonly job: string; readonly data: WakeUp },
  ): Promise<boolean> {
    const { lane, priority = 0, group } = next;
    const { names, slots } = this;
    const level = levelOf(priority);
    const ofSession = [names.lockOf(sessionKey), names.wantedOf(sessionKey)];
    const ofLane = [...names.turnsOf(lane, level), names.waitingOf(lane)];
    const keys = [...ofLane, ...ofSession, job, ...slots.keysOf(last.group)];
    const turns = [group ?? '', LAST_TICKET];
    const change = [lockValue, JSON.stringify(data), jobPriorityOf(level, 0), sessionKey];
    const ticket = await this.run('continue', keys, [...turns, ...change, ...slots.argsOf(last)]);
    return Number(ticket) > 0;
  }

  /**
   * Locks the session of a job, and takes a slot of its group. While a worker has the session in another lane, the
   * wake-up is stored for the end of that work.
   */
  async lock(wakeUp: WakeUp, job: JobFacts): Promise<LockOutcome> {
    const { sessionId, at: _at, ...schedule } = wakeUp;
    const { names, slots } = this;
    const sessionKey = sessionKeyOf(sessionId);
    const [, served] = names.turnsOf(job.lane, levelOfJob(job.priority));
    const ofSession = [names.lockOf(sessionKey), names.wantedOf(sessionKey)];
    const keys = [...ofSession, served, job.lockKey, ...slots.keysOf(wakeUp.group)];
    const jobRef = JSON.stringify([job.lane ?? null, job.id]);
    const ofLock = [jobRef, job.token, slots.lockMilliseconds];
    const args = [...ofLock, JSON.stringify(schedule), ticketOf(job.priority)];
    const left = Number(await this.run('lock', keys, [...args, ...slots.argsOf(wakeUp)]));
    if (left === -2) return 'hasAnotherWorker';
    if (left === -1) return 'waitsForSlot';
    return left === 0 ? { lockValue: jobRef + job.token } : { lockedForMilliseconds: left };
  }

  /** Renews locks, and the slots of their sessions. Returns the locks that another worker has. */
  async renew<Lock extends SessionLock>(locks: readonly Lock[]): Promise<readonly Lock[]> {
    const { names, slots } = this;
    const keys = locks.flatMap(({ sessionKey, wakeUp: { group } }) => {
      const [busy] = slots.keysOf(group);
      return [names.lockOf(sessionKey), busy];
    });
    const lockValues = locks.flatMap(({ sessionKey, lockValue, wakeUp: { group } }) => [
      lockValue,
      slots.isLimited(group) ? sessionKey : '',
    ]);
    const args = [slots.lockMilliseconds, ...lockValues];
    const lost = new Set((await this.run('renew', keys, args)) as number[]);
    return locks.filter((_, index) => lost.has(index + 1));
  }

  /** Ends a lock. Returns the wake-ups that can be added now: of the session, and of those that have a slot now. */
  async unlock({ sessionKey, lockValue, wakeUp }: SessionLock, now: Instant): Promise<readonly WakeUp[]> {
    const { names, slots } = this;
    const keys = [names.lockOf(sessionKey), names.wantedOf(sessionKey), ...slots.keysOf(wakeUp.group)];
    const reply = await this.run('unlock', keys, [lockValue, ...slots.argsOf(wakeUp)]);
    const [wanted = '', ...freed] = reply as string[];
    const others = wakeUpsOf(freed);
    if (wanted === '') return others;
    const { sessionId } = wakeUp;
    return [...others, wakeUpOf(wanted, { sessionId, at: now }) ?? { sessionId, at: now }];
  }

  /** Returns the wake-ups of a group that have a slot now. */
  async freeSlots(group: string): Promise<readonly WakeUp[]> {
    const { slots } = this;
    const reply = await this.run('freeSlots', slots.keysOf(group), slots.argsOfGroup(group));
    return wakeUpsOf(reply as string[]);
  }

  /** Removes the job that a worker has locked with a token. Returns the text of its data, which may be damaged. */
  async dropJob(base: string, token: string): Promise<string> {
    return String(await this.run('dropJob', [`${base}active`, `${base}stalled`], [base, token]));
  }

  /** True when a job waits in a lane. Otherwise a worker can wait for the next one. `base` is the beginning of BullMQ's keys. */
  async hasJob(base: string): Promise<boolean> {
    const keys = ['marker', 'prioritized', 'wait'].map((name) => base + name);
    return Number(await this.run('hasJob', keys, [])) === 1;
  }

  /** Removes a timer that no worker can take, so that another one with its id can be added. */
  async forgetTimer(base: string, id: string): Promise<void> {
    await this.run('forgetTimer', [base + id], [base, id]);
  }

  /** Pauses a lane until an instant, unless it pauses for longer. */
  async pause(lane: string, until: Instant): Promise<void> {
    const { lanes, changes } = this.names;
    await this.run('pause', [lanes], [JSON.stringify(lane), until, changes]);
  }

  /** Removes a lane that was not used for a day. `jobs` are the keys that exist while it has a job. */
  async removeLane(lane: string, jobs: readonly string[], now: Instant): Promise<boolean> {
    const keys = [this.names.lanes, ...this.names.useOf(lane), ...jobs];
    return (await this.run('removeLane', keys, [JSON.stringify(lane), now])) === 1;
  }

  /**
   * Stores settings, and sets the limits of lanes for all workers, unless a worker that started later has done so. Returns
   * the instant that counts as the start of this worker; 0 when those of the other worker hold.
   */
  async shareSettings(
    lanes: readonly LimitedLane[],
    fields: readonly string[],
    startedAt: Instant | undefined,
  ): Promise<Instant> {
    const keys = [this.names.settings, ...lanes.map(([lane]) => this.names.metaOf(lane))];
    const limits = lanes.flatMap(([, { concurrency = '', rate }]) => [
      concurrency,
      rate?.max ?? '',
      rate ? wholeMilliseconds(rate.seconds) : '',
    ]);
    const args = [startedAt ?? '', Date.now(), JSON.stringify(fields), ...limits];
    return Number(await this.run('shareSettings', keys, args));
  }

  private async run(script: Script, keys: readonly string[], args: Arguments): Promise<unknown> {
    const commands = this.client as unknown as Record<string, (...parts: Arguments) => Promise<unknown>>;
    return commands[COMMANDS[script]]?.(keys.length, ...keys, ...args);
  }
}

/** The names of the commands have a hash of the text, so that two releases of this package can share one client. */
const COMMANDS = Object.fromEntries(
  Object.entries(SCRIPTS).map(([name, lua]) => [
    name,
    `holdfast:${name}:${createHash('sha1').update(lua).digest('hex').slice(0, 12)}`,
  ]),
) as Readonly<Record<Script, string>>;
