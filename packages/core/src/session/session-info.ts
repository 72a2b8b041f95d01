import type { Instant } from '../clock.ts';
import type { Read } from '../document.ts';
import { readCount, readInstant, readOneOf, readString } from '../document.ts';
import type { ExecutionStatus } from '../state/execution/status.ts';
import { EXECUTION_STATUSES } from '../state/execution/status.ts';
import { SessionId } from '../state/values/ids.ts';
import type { Waiting } from '../state/execution/waiting.ts';
import { WAITING_TYPES } from '../state/execution/waiting.ts';

/** Where a session stands in its life. Changes only when an action says so; an active one may have a failed run. */
export type SessionStatus = 'active' | 'suspended' | 'completed' | 'failed' | 'deleted';

export const SESSION_STATUSES: readonly SessionStatus[] = [
  'active',
  'suspended',
  'completed',
  'failed',
  'deleted',
];

/** What a list of sessions shows of one. */
export interface SessionInfo {
  readonly sessionId: SessionId;
  /** The session of the agent that started this one. */
  readonly parentId: SessionId | undefined;
  readonly agentName: string;
  readonly status: SessionStatus;
  /** How often it was saved, its creation included. */
  readonly version: number;
  readonly createdAt: Instant;
  /** When it was saved last. */
  readonly updatedAt: Instant;
  /** How far the agent's execution has got; `undefined` when there is none. */
  readonly executionStatus: ExecutionStatus | undefined;
  /** What kind of thing a suspended execution waits for; the first, when it waits for several. */
  readonly waitingFor: Waiting['type'] | undefined;
}

/** A session as lists show it. */
export interface ListedSession extends SessionInfo {
  /**
   * When somebody last began or ended work on it: its creation, a claim, a release, or a save without a claim. It stays
   * while a run saves its steps.
   */
  readonly lastActiveAt: Instant;
}

const INFO_NAMES = new Set([
  'sessionId',
  'parentId',
  'agentName',
  'status',
  'version',
  'createdAt',
  'updatedAt',
  'executionStatus',
  'waitingFor',
]);

/** What a list shows of a session, as kept in JSON, where what is `undefined` is left out. */
export const readSessionInfo: Read<SessionInfo> = (reader, value) => {
  const members = reader.members(value, INFO_NAMES);
  return Object.freeze({
    sessionId: reader.required(members, 'sessionId', SessionId.read),
    parentId: reader.optional(members, 'parentId', SessionId.read),
    agentName: reader.required(members, 'agentName', readString),
    status: reader.required(members, 'status', readOneOf(SESSION_STATUSES)),
    version: reader.required(members, 'version', readCount),
    createdAt: reader.required(members, 'createdAt', readInstant),
    updatedAt: reader.required(members, 'updatedAt', readInstant),
    executionStatus: reader.optional(members, 'executionStatus', readOneOf(EXECUTION_STATUSES)),
    waitingFor: reader.optional(members, 'waitingFor', readOneOf(WAITING_TYPES)),
  });
};
