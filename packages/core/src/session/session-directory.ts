import type { Instant } from '../clock.ts';
import type { PageQuery } from './session-pages.ts';
import type { SessionPage } from './session-store.ts';

/** Selects due sessions. */
export interface DueQuery extends PageQuery {
  /** Selects the sessions that are due at this instant. Default: now. */
  readonly at?: Instant | undefined;
  /** Due for at least so many seconds at that moment; default 0. */
  readonly dueForSeconds?: number | undefined;
}

/** A due session, and the instant since when it is due. */
export interface DueSession {
  readonly sessionId: string;
  readonly dueAt: Instant;
}

/** A page of due sessions. */
export interface DuePage extends Pick<SessionPage, 'unreadable' | 'cursor'> {
  /** Longest due first. */
  readonly sessions: readonly DueSession[];
}

/** A worker that announces itself. */
export interface AnnouncedWorker {
  /** Any text of 1 to 1,000 characters. */
  readonly workerName: string;
  /** When the worker started. */
  readonly since: Instant;
  /** The sessions that it works on now, at most 1,000. */
  readonly sessionIds: readonly string[];
}

/** A worker that has announced itself, and when it did so last. */
export interface SeenWorker extends AnnouncedWorker {
  readonly seenAt: Instant;
}

/**
 * All sessions of a database, of every owner, and the workers that share them. A store implements it together with
 * `SessionStore`; engines, sweeps and workers take it. The store of one owner, `runtime.for(owner).store`, has none.
 * The methods reject with the errors that `SessionStore` names.
 */
export interface SessionDirectory {
  /**
   * Returns a page of the due sessions, longest due first. An active session is due when its wake-up time has come, its
   * work is unfinished and unclaimed, its claim has expired, or its inbox holds items. A session whose record is
   * unreadable is in `unreadable`, and does not block the others.
   */
  due(query?: DueQuery): Promise<DuePage>;
  /**
   * Takes a session that `due` returned, to wake it: of several callers one gets `true`. The session is not due again for so
   * many seconds, unless it is claimed or saved before. `false` when it is gone, or not due any more.
   */
  takeDue(session: DueSession, seconds: number): Promise<boolean>;
  /**
   * Announces a worker, for so many seconds. A worker repeats it while it lives, and calls it with 0 seconds when it ends.
   */
  announce(worker: AnnouncedWorker, seconds: number): Promise<void>;
  /** Returns the workers that have announced themselves, the one that was seen last first; at most 1,000. */
  workers(): Promise<readonly SeenWorker[]>;
  /** Removes up to `limit` expired sessions (default 1,000) and returns how many it removed. It only saves space. */
  prune(options?: { readonly limit?: number | undefined }): Promise<number>;
  /**
   * Closes the connections that the store opened itself; clients that the caller passed in stay open. From then on
   * every method but `close` rejects with a `StoreUnavailableError` that is not ambiguous. Calls that are in progress
   * may reject with it too. A second `close` does nothing.
   */
  close(): Promise<void>;
}
