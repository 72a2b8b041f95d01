import type { Instant } from '../clock.ts';
import type { WorkFailure } from './work-failure.ts';
import {
  readCount,
  readFields,
  readInstant,
  readOneOf,
  readString,
  shapeOf,
  type Read,
} from '../document.ts';
import { EXECUTION_STATUSES, type ExecutionStatus } from '../state/execution/status.ts';
import { SessionId } from '../state/values/ids.ts';
import { WAITING_TYPES, type Waiting } from '../state/values/waiting.ts';
import { readLabels, readOwner, readTitle, type SessionLabels } from './title-labels-owner.ts';
import { NO_TOTALS, readSessionTotals, type SessionTotals } from './session-totals.ts';

/** The status of a session. Only an action changes it: an active session may have a failed execution. */
export type SessionStatus = 'active' | 'suspended' | 'completed' | 'failed' | 'deleted';

export const SESSION_STATUSES: readonly SessionStatus[] = [
  'active',
  'suspended',
  'completed',
  'failed',
  'deleted',
];

/** The facts about a session that lists show. */
export interface SessionInfo {
  readonly sessionId: SessionId;
  /** The parent of the session. */
  readonly parentId: SessionId | undefined;
  /** The tenant or the user that the session belongs to. */
  readonly owner: string | undefined;
  readonly title: string | undefined;
  /** Names and values that the application gave the session. */
  readonly labels: SessionLabels | undefined;
  readonly agentName: string;
  readonly status: SessionStatus;
  /** The number of saves, the creation included. */
  readonly version: number;
  readonly createdAt: Instant;
  /** When the session was last saved. */
  readonly updatedAt: Instant;
  /** The status of the execution; `undefined` when the state has none. */
  readonly executionStatus: ExecutionStatus | undefined;
  /** The type of the first entry in the `waiting` of a suspended execution. A list shows `retry` for a dead letter too. */
  readonly waitingFor: Waiting['type'] | undefined;
  /** The use of all executions of the session together. */
  readonly totals: SessionTotals;
}

/** A session in a list. */
export interface ListedSession extends SessionInfo {
  /**
   * When work on the session last began or ended: its creation, a claim, a release, or a save without a claim. The
   * saves of a run do not change it.
   */
  readonly lastActiveAt: Instant;
  /** The last failure of work on the session outside of its execution; without `retryAt` it is a dead letter. */
  readonly failure?: WorkFailure;
}

const INFO = shapeOf({
  sessionId: SessionId.read,
  'parentId?': SessionId.read,
  'owner?': readOwner,
  'title?': readTitle,
  'labels?': readLabels,
  agentName: readString,
  status: readOneOf(SESSION_STATUSES),
  version: readCount,
  createdAt: readInstant,
  updatedAt: readInstant,
  'executionStatus?': readOneOf(EXECUTION_STATUSES),
  'waitingFor?': readOneOf(WAITING_TYPES),
  'totals?': readSessionTotals,
});

/** Reads a `SessionInfo` from JSON, which omits members that are `undefined`. */
export const readSessionInfo: Read<SessionInfo> = (reader, value) => {
  const { totals = NO_TOTALS, ...info } = readFields(reader, value, INFO);
  return Object.freeze({ ...info, totals });
};
