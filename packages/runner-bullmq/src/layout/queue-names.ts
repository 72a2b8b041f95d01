import { createHash } from 'node:crypto';
import { LEVELS } from './job-order.ts';

/** The keys of the slots of a group. */
export type SlotKeys = readonly [busy: string, waiting: string, wakeUps: string, groups: string];

/** The names of the keys of one engine. */
export interface QueueNames {
  /** The name of the BullMQ queue of a lane. BullMQ allows no colon in it. */
  readonly queueOf: (lane: string | undefined) => string;
  /** The beginning of BullMQ's keys of a lane. */
  readonly baseOf: (lane: string | undefined) => string;
  /** The key of BullMQ's hash with the limits of a lane. */
  readonly metaOf: (lane: string) => string;
  /** The key of BullMQ's set of jobs of a lane that wait. */
  readonly waitingOf: (lane: string | undefined) => string;
  /** The name of the BullMQ queue of later wake-ups. */
  readonly timers: string;
  /** The hash of the lanes that have been used, with the ends of their pauses. */
  readonly lanes: string;
  /** The channel on which changes of that hash are published. */
  readonly changes: string;
  /** The hash of the settings of the worker that started last. */
  readonly settings: string;
  readonly lockOf: (sessionKey: string) => string;
  readonly wantedOf: (sessionKey: string) => string;
  /** The keys of the turns of a lane's groups, for wake-ups of one level of priority. */
  readonly turnsOf: (lane: string | undefined, level: number) => readonly [tickets: string, served: string];
  /** The keys that exist while a lane has been used in the last 24 hours. */
  readonly useOf: (lane: string) => readonly string[];
  /** The keys of the slots of a group, by its name in the scripts. */
  readonly slotsOf: (group: string) => SlotKeys;
  /** The set of the groups in which a session waits for a slot. */
  readonly groups: string;
}

export function queueNames(prefix: string, name: string): QueueNames {
  const base = `${prefix}:${name}:holdfast`;
  const queueOf: QueueNames['queueOf'] = (lane) =>
    lane === undefined ? name : `${name}.lane.${encode(lane)}`;
  const turnsOf: QueueNames['turnsOf'] = (lane, level) => {
    const key = `${base}:turns:${level}:${lane === undefined ? '' : encode(lane)}`;
    return [`${key}:tickets`, `${key}:served`];
  };
  return {
    queueOf,
    baseOf: (lane) => `${prefix}:${queueOf(lane)}:`,
    metaOf: (lane) => `${prefix}:${queueOf(lane)}:meta`,
    waitingOf: (lane) => `${prefix}:${queueOf(lane)}:prioritized`,
    timers: `${name}.timers`,
    lanes: `${base}:lanes`,
    changes: `${base}:changes`,
    settings: `${base}:settings`,
    lockOf: (sessionKey) => `${base}:lock:${sessionKey}`,
    wantedOf: (sessionKey) => `${base}:wanted:${sessionKey}`,
    turnsOf,
    useOf: (lane) => Array.from({ length: LEVELS }, (_, level) => turnsOf(lane, level)[0]),
    slotsOf: (group) => {
      const key = `${base}:group:${hashOf(group)}`;
      return [`${key}:busy`, `${key}:waiting`, `${base}:groups:wake-ups`, `${base}:groups`];
    },
    groups: `${base}:groups`,
  };
}

/** Returns a short key for a session id, which can be any string. */
export function sessionKeyOf(sessionId: string): string {
  return hashOf(JSON.stringify(sessionId));
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 32);
}

/** Encodes any string for the name of a queue, which has no colon. Plain names stay readable. */
function encode(text: string): string {
  return /^[\w.-]+$/u.test(text) ? text : `=${Buffer.from(JSON.stringify(text)).toString('base64url')}`;
}
