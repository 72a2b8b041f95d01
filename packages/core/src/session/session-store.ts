import { HoldfastError } from '../errors.ts';
import type { ExecutionStatus } from '../state/execution.ts';
import type { AgentSession, SessionInfo, SessionRevision, SessionStatus } from './session.ts';

export interface SaveOptions {
  /**
   * The session as this store answered it last, when it was loaded, created or saved. Values share structure, so a
   * store can tell by identity what changed since, and write only that. Absent: everything is written.
   */
  readonly base?: AgentSession | undefined;
  /**
   * Names this save over all its retries. A store that finds its own operation already done answers with success,
   * so a reply that was lost is neither a conflict nor a second save.
   */
  readonly operationId?: string | undefined;
}

export interface DeleteOptions {
  /** Delete only this revision. Absent: whatever there is. */
  readonly revision?: SessionRevision | undefined;
}

/** Which sessions to list. Each condition that is given must hold. */
export interface SessionQuery {
  readonly status?: SessionStatus | undefined;
  readonly agentName?: string | undefined;
  readonly parentId?: string | undefined;
  readonly executionStatus?: ExecutionStatus | undefined;
  /** Newest first, by creation (default; stable while others write) or by last change; ties by id, by code point. */
  readonly order?: 'createdAt' | 'updatedAt' | undefined;
  /** 1 to 100; default 50. */
  readonly limit?: number | undefined;
  /** Where the page before ended. */
  readonly cursor?: string | undefined;
}

export interface SessionPage {
  readonly sessions: readonly SessionInfo[];
  /** Where the next page begins; `undefined` on the last. */
  readonly cursor: string | undefined;
}

/**
 * Keeps sessions. Every write is conditional on the revision it was based on: of two writers with one base one
 * wins, and the other gets a `SessionConflictError` and has changed nothing. What was acknowledged can be loaded.
 *
 * All methods reject with `StoreUnavailableError` when the storage does not answer, and with `StateFormatError`
 * when what it holds cannot be read; that is then left untouched. A string that cannot be a session id names no
 * session: it is absent.
 */
export interface SessionStore {
  /** Keeps a new session, version 0, as version 1. @throws SessionConflictError `exists` when its id is taken. */
  create(session: AgentSession): Promise<AgentSession>;
  /** The session as last saved; `undefined` when there is none. */
  load(sessionId: string): Promise<AgentSession | undefined>;
  /**
   * Keeps a session in place of the revision it was made from, as the next version.
   * @throws SessionNotFoundError when it is gone; SessionConflictError when another revision is there.
   */
  save(session: AgentSession, options?: SaveOptions): Promise<AgentSession>;
  /** Is there such a session? */
  exists(sessionId: string): Promise<boolean>;
  /** Forgets a session. `false` when there was none. @throws SessionConflictError when another revision is there. */
  delete(sessionId: string, options?: DeleteOptions): Promise<boolean>;
  /** A page of sessions, newest first. @throws HoldfastError `ARGUMENT_INVALID` for a limit or a cursor that cannot be. */
  list(query?: SessionQuery): Promise<SessionPage>;
  /** Lets go of what the store opened itself. Clients that were passed in stay open. */
  close(): Promise<void>;
}

/** There is no such session, or it has expired. */
export class SessionNotFoundError extends HoldfastError {
  readonly sessionId: string;

  constructor(sessionId: string) {
    super('SESSION_NOT_FOUND', `There is no session "${sessionId}".`, { data: { sessionId } });
    this.sessionId = sessionId;
  }
}

/**
 * What stood in the way of a write. `exists`: the id is taken. `stale`: somebody saved since. `recreated`: the
 * session was deleted and made anew. `store-behind`: the store lost versions that it had acknowledged.
 */
export type SessionConflictKind = 'exists' | 'stale' | 'recreated' | 'store-behind';

const CONFLICT_ADVICE: Readonly<Record<SessionConflictKind, string>> = {
  exists: 'Choose another id, or load it.',
  stale: 'Load it again and repeat the change.',
  recreated: 'It was deleted and created anew: what you hold belongs to the old one.',
  'store-behind': 'The storage has lost acknowledged versions; nothing was overwritten.',
};

/** Another revision is there than the write was based on. Nothing was changed. */
export class SessionConflictError extends HoldfastError {
  readonly sessionId: string;
  readonly kind: SessionConflictKind;
  /** The version that the write was based on. */
  readonly expected: number;
  /** The version that the store has. */
  readonly actual: number;

  constructor(sessionId: string, expected: SessionRevision, actual: SessionRevision) {
    const kind = conflictKind(expected, actual);
    super(
      'SESSION_CONFLICT',
      `Session "${sessionId}" is at version ${actual.version}, the write expected ${expected.version} (${kind}). ${CONFLICT_ADVICE[kind]}`,
      { data: { sessionId, kind, expected: expected.version, actual: actual.version } },
    );
    this.sessionId = sessionId;
    this.kind = kind;
    this.expected = expected.version;
    this.actual = actual.version;
  }
}

function conflictKind(expected: SessionRevision, actual: SessionRevision): SessionConflictKind {
  if (expected.version === 0) return 'exists';
  if (expected.incarnation !== actual.incarnation) return 'recreated';
  return actual.version < expected.version ? 'store-behind' : 'stale';
}

/** A session, or a value in it, is larger than the store can keep. Nothing was written. Sizes in bytes. */
export class SessionTooLargeError extends HoldfastError {
  constructor(sessionId: string, bytes: number, limit: number) {
    super(
      'SESSION_TOO_LARGE',
      `Session "${sessionId}" has a value of ${bytes} bytes; the limit is ${limit}.`,
      {
        data: { sessionId, bytes, limit },
      },
    );
  }
}

/** The storage did not answer, or refused to. */
export class StoreUnavailableError extends HoldfastError {
  /** True when the write may have been done: repeat it with the same operation id. */
  readonly isAmbiguous: boolean;

  constructor(message: string, options: { readonly isAmbiguous: boolean; readonly cause?: unknown }) {
    super('STORE_UNAVAILABLE', message, { cause: options.cause, data: { isAmbiguous: options.isAmbiguous } });
    this.isAmbiguous = options.isAmbiguous;
  }
}
