import type { Instant } from '../clock.ts';
import { hasErrorCode, HoldfastError } from '../errors.ts';
import type { SessionRevision } from './session.ts';

/** True for the error of stored data that is damaged, or that a newer release wrote. */
export function isUnreadableError(error: unknown): boolean {
  return hasErrorCode(error, 'STATE_FORMAT') || hasErrorCode(error, 'STATE_VERSION');
}

/** The session does not exist, or has expired. */
export class SessionNotFoundError extends HoldfastError {
  readonly sessionId: string;

  constructor(sessionId: string) {
    const message = `Session "${sessionId}" does not exist or has expired. Check the id.`;
    super('SESSION_NOT_FOUND', message, { data: { sessionId } });
    this.sessionId = sessionId;
  }
}

/**
 * The kind of a conflict. `exists`: the id is taken. `stale`: another writer has saved since. `recreated`: the session
 * was deleted and created again. `store-behind`: the store has dropped versions that it had acknowledged. `fenced`:
 * another worker has claimed the session since.
 */
export type SessionConflictKind = 'exists' | 'stale' | 'recreated' | 'store-behind' | 'fenced';

const CONFLICT_ADVICE: Readonly<Record<SessionConflictKind, string>> = {
  exists: 'Choose another id, or load the session.',
  stale: 'Load the session again and repeat the change.',
  recreated: 'The session was deleted and created again: discard the loaded copy.',
  'store-behind': 'The storage has dropped acknowledged versions: check the storage.',
  fenced: 'Another worker has claimed the session: stop the work on it.',
};

/** The store holds another revision, or another claim, than the writer expected. Nothing was changed. */
export class SessionConflictError extends HoldfastError {
  readonly sessionId: string;
  /** The kind of the conflict, which determines what to do. */
  readonly kind: SessionConflictKind;
  /** The version that the write was based on; for `fenced`, the epoch of the claim. */
  readonly expected: number;
  /** The version that the store has; for `fenced`, the epoch. */
  readonly actual: number;

  constructor(sessionId: string, kind: SessionConflictKind, expected: number, actual: number) {
    const what = kind === 'fenced' ? 'epoch' : 'version';
    const message = `Session "${sessionId}" is at ${what} ${actual}, but the write expected ${expected} (${kind}). ${CONFLICT_ADVICE[kind]}`;
    super('SESSION_CONFLICT', message, { data: { sessionId, kind, expected, actual } });
    this.sessionId = sessionId;
    this.kind = kind;
    this.expected = expected;
    this.actual = actual;
  }

  /** Returns the conflict of a write that expected one revision when the store holds another. */
  static between(
    sessionId: string,
    expected: SessionRevision,
    actual: SessionRevision,
  ): SessionConflictError {
    const kind = conflictKind(expected, actual);
    return new SessionConflictError(sessionId, kind, expected.version, actual.version);
  }
}

function conflictKind(expected: SessionRevision, actual: SessionRevision): SessionConflictKind {
  if (expected.version === 0) return 'exists';
  if (expected.incarnation !== actual.incarnation) return 'recreated';
  return actual.version < expected.version ? 'store-behind' : 'stale';
}

/** A worker holds a claim on the session. Nothing was changed. Wait until the claim ends, or enqueue an item. */
export class SessionBusyError extends HoldfastError {
  readonly sessionId: string;
  /** The worker of the claim. */
  readonly workerId: string;
  /** When the claim ends, unless it is renewed. */
  readonly until: Instant;

  constructor(sessionId: string, workerId: string, until: Instant) {
    const message = `Session "${sessionId}" is claimed by "${workerId}" until ${new Date(until).toISOString()}. Wait, or enqueue an item.`;
    super('SESSION_BUSY', message, { data: { sessionId, workerId, until } });
    this.sessionId = sessionId;
    this.workerId = workerId;
    this.until = until;
  }
}

/**
 * The last worker of the session died before it released its claim, or stood still, and the session may be the cause. The
 * caller wants to work on such a session only without other sessions. Nothing was changed.
 */
export class SessionSuspectError extends HoldfastError {
  readonly sessionId: string;

  constructor(sessionId: string) {
    const message = `The last worker of session "${sessionId}" died or stood still, perhaps because of it. Work on it in a process without other sessions.`;
    super('SESSION_SUSPECT', message, { data: { sessionId } });
    this.sessionId = sessionId;
  }
}

export function standstillError(sessionId: string, seconds: number): HoldfastError {
  const message = `The event loop of the worker stood still for ${Math.floor(seconds)} seconds or longer while it held session "${sessionId}". The session is suspect now.`;
  return new HoldfastError('WORKER_STOOD_STILL', message, { data: { sessionId, seconds } });
}

/**
 * The inbox of a session holds as many items as the store allows. Nothing was enqueued. Wait until a worker has used
 * some.
 */
export class InboxFullError extends HoldfastError {
  readonly sessionId: string;

  constructor(sessionId: string, maxItems: number) {
    const message = `The inbox of session "${sessionId}" is full: it holds ${maxItems} items. Wait until a worker has used some.`;
    super('INBOX_FULL', message, { data: { sessionId, maxItems } });
    this.sessionId = sessionId;
  }
}

/** A session, or a value in it, is larger than the store accepts. Nothing was written. Sizes are in bytes. */
export class SessionTooLargeError extends HoldfastError {
  constructor(sessionId: string, bytes: number, limit: number) {
    const message = `Session "${sessionId}" has a value of ${bytes} bytes; the limit is ${limit}. Store large values elsewhere.`;
    super('SESSION_TOO_LARGE', message, { data: { sessionId, bytes, limit } });
  }
}

/** The storage did not reply or refused the request, or the store is closed. */
export class StoreUnavailableError extends HoldfastError {
  /** True when the write may have been done. Repeat it with the same operation id. */
  readonly isAmbiguous: boolean;

  constructor(message: string, options: { readonly isAmbiguous: boolean; readonly cause?: unknown }) {
    super('STORE_UNAVAILABLE', message, { cause: options.cause, data: { isAmbiguous: options.isAmbiguous } });
    this.isAmbiguous = options.isAmbiguous;
  }
}

/** The store was closed. It replies to no later request. */
export class StoreClosedError extends StoreUnavailableError {
  constructor() {
    super('The session store is closed. Open it again.', { isAmbiguous: false });
  }
}

/**
 * The storage accepts no more requests at present, even after retries. Nothing was written. Send requests more slowly.
 */
export class StoreThrottledError extends HoldfastError {
  constructor(message: string, options: { readonly cause?: unknown } = {}) {
    super('STORE_THROTTLED', message, options);
  }
}

/** True when the storage did not reply or accepts no more requests: a later attempt may succeed. */
export function isUnreachable(error: unknown): boolean {
  return hasErrorCode(error, 'STORE_UNAVAILABLE') || hasErrorCode(error, 'STORE_THROTTLED');
}
