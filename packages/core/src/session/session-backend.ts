import type { Instant } from '../clock.ts';
import type { SavedSession, SavePlan } from './saved-session.ts';
import type { ResolvedDueQuery, ResolvedSessionQuery } from './session-cursor.ts';
import type { SessionRecord } from './session-record.ts';
import type { SessionInfo } from './session-info.ts';
import type { DueSession, StoreCapabilities } from './session-store.ts';

/** All that is kept of one session, as of one moment. */
export interface StoredSession {
  readonly record: SessionRecord;
  readonly saved: SavedSession;
  /** The inbox items that the record names, as JSON, by id. */
  readonly inbox: ReadonlyMap<string, string>;
}

/** What is written together with a record: all of it, or nothing of either. */
export interface RecordChange {
  /**
   * How the content changes. With another incarnation it is whole, and nothing of the one before may remain. The same
   * object for each swap of one save.
   */
  readonly plan?: SavePlan | undefined;
  /** An item to keep, as JSON. */
  readonly enqueue?: { readonly id: string; readonly item: string } | undefined;
  /** Items to drop. */
  readonly acknowledge?: readonly string[] | undefined;
}

/**
 * What a database must do so that `BackedSessionStore` makes a session store of it: read, write what a plan says on a
 * condition, and walk two indexes. What claims, conflicts, repetition and expiry mean is decided in core, by functions
 * of `SessionRecord`. Ids are valid session ids; all reads see what was acknowledged before them, but those of lists
 * may lag where the capabilities say so.
 *
 * Rejects with `StoreUnavailableError`, `StoreThrottledError`, `SessionTooLargeError`, and with `StateFormatError` for
 * what cannot be read.
 */
export interface SessionBackend {
  readonly capabilities: StoreCapabilities;
  /**
   * The present moment by the clock that leases and expiry go by; a promise where it must be asked for. Absent: the clock
   * of the store's options.
   */
  now?(): Instant | Promise<Instant>;
  /** The record of a session, expired or not. */
  read(sessionId: string): Promise<SessionRecord | undefined>;
  /** Everything of a session, expired or not. */
  readAll(sessionId: string): Promise<StoredSession | undefined>;
  /** The inbox items with these ids, as JSON, by id; those that are not there are left out. */
  readItems(
    sessionId: string,
    incarnation: string,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, string>>;
  /**
   * Puts a record in the place of another, if that is still there: the same incarnation and the same number of writes.
   * Without one before: if there is none. Without one after: the session goes, with all that belongs to it. `false`
   * when something else was there; then nothing was changed. One atomic effect, whenever the process dies.
   */
  swap(
    sessionId: string,
    before: SessionRecord | undefined,
    after: SessionRecord | undefined,
    change: RecordChange,
  ): Promise<boolean>;
  /** The first `limit + 1` sessions that fit, in the order of `compareSessionInfos`, without those expired by `now`. */
  list(query: ResolvedSessionQuery, now: Instant): Promise<readonly SessionInfo[]>;
  /** The first `limit + 1` sessions whose `dueAt` is not after `at`, by it and then by id, without expired ones. */
  due(query: ResolvedDueQuery, now: Instant): Promise<readonly DueSession[]>;
  /** Removes at most so many sessions that have expired by `now`; how many it were. */
  prune(now: Instant, limit: number): Promise<number>;
  /** Lets go of what it opened itself. Asked for once; what begins afterwards is refused before it comes here. */
  close(): Promise<void>;
}
