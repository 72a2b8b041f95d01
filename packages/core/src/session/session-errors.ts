import type { Instant } from '../clock.ts';
import { hasErrorCode, HoldfastError } from '../errors.ts';
import type { SessionRevision } from './session.ts';

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
 * session was deleted and made anew. `store-behind`: the store lost versions that it had acknowledged. `fenced`:
 * somebody else has claimed the session since.
 */
export type SessionConflictKind = 'exists' | 'stale' | 'recreated' | 'store-behind' | 'fenced';

const CONFLICT_ADVICE: Readonly<Record<SessionConflictKind, string>> = {
  exists: 'Choose another id, or load it.',
  stale: 'Load it again and repeat the change.',
  recreated: 'It was deleted and created anew: what you hold belongs to the old one.',
  'store-behind': 'The storage has lost acknowledged versions; nothing was overwritten.',
  fenced: 'Another worker has taken it over: stop working on it.',
};

/** Another revision is there than the write was based on, or another claim. Nothing was changed. */
export class SessionConflictError extends HoldfastError {
  readonly sessionId: string;
  /** What stood in the way, and so what to do. */
  readonly kind: SessionConflictKind;
  /** The version that the write was based on; for `fenced`, the epoch of the claim. */
  readonly expected: number;
  /** The version that the store has; for `fenced`, the epoch. */
  readonly actual: number;

  constructor(sessionId: string, kind: SessionConflictKind, expected: number, actual: number) {
    const what = kind === 'fenced' ? 'epoch' : 'version';
    super(
      'SESSION_CONFLICT',
      `Session "${sessionId}" is at ${what} ${actual}, the write expected ${expected} (${kind}). ${CONFLICT_ADVICE[kind]}`,
      { data: { sessionId, kind, expected, actual } },
    );
    this.sessionId = sessionId;
    this.kind = kind;
    this.expected = expected;
    this.actual = actual;
  }

  /** What a write that was based on one revision has met in another. */
  static between(
    sessionId: string,
    expected: SessionRevision,
    actual: SessionRevision,
  ): SessionConflictError {
    return new SessionConflictError(
      sessionId,
      conflictKind(expected, actual),
      expected.version,
      actual.version,
    );
  }
}

function conflictKind(expected: SessionRevision, actual: SessionRevision): SessionConflictKind {
  if (expected.version === 0) return 'exists';
  if (expected.incarnation !== actual.incarnation) return 'recreated';
  return actual.version < expected.version ? 'store-behind' : 'stale';
}

/** Somebody works on the session. Nothing was changed. Wait until the claim ends, or enqueue what is to be done. */
export class SessionBusyError extends HoldfastError {
  readonly sessionId: string;
  /** Who works on it. */
  readonly workerId: string;
  /** When the claim ends, unless it is renewed. */
  readonly until: Instant;

  constructor(sessionId: string, workerId: string, until: Instant) {
    const message = `Session "${sessionId}" is claimed by "${workerId}" until ${new Date(until).toISOString()}.`;
    super('SESSION_BUSY', message, { data: { sessionId, workerId, until } });
    this.sessionId = sessionId;
    this.workerId = workerId;
    this.until = until;
  }
}

/** The inbox of a session holds as many items as the store allows. Nothing was enqueued. Wait until some were used. */
export class InboxFullError extends HoldfastError {
  readonly sessionId: string;

  constructor(sessionId: string, maxItems: number) {
    super('INBOX_FULL', `The inbox of session "${sessionId}" is full: ${maxItems} items wait in it.`, {
      data: { sessionId, maxItems },
    });
    this.sessionId = sessionId;
  }
}

/** A session, or a value in it, is larger than the store can keep. Nothing was written. Sizes in bytes. */
export class SessionTooLargeError extends HoldfastError {
  constructor(sessionId: string, bytes: number, limit: number) {
    super(
      'SESSION_TOO_LARGE',
      `Session "${sessionId}" has a value of ${bytes} bytes; the limit is ${limit}.`,
      { data: { sessionId, bytes, limit } },
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

/** The storage takes no more at present, however often it was asked. Nothing was written. Slow down. */
export class StoreThrottledError extends HoldfastError {
  constructor(message: string, options: { readonly cause?: unknown } = {}) {
    super('STORE_THROTTLED', message, options);
  }
}

/** Did the storage not answer, or not take any more? Then it may at another time. */
export function isUnreachable(error: unknown): boolean {
  return hasErrorCode(error, 'STORE_UNAVAILABLE') || hasErrorCode(error, 'STORE_THROTTLED');
}
