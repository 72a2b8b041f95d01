import type { Instant } from '../../clock.ts';
import type { SessionContent, SavePlan } from './session-content.ts';
import type { ResolvedDueQuery, ResolvedSessionQuery } from './session-query.ts';
import type { SessionRecord } from './session-record.ts';
import type { ListedSession } from '../session-info.ts';
import type { DueSession, InboxItemRef, StoreCapabilities } from '../session-store.ts';

/** A session without its inbox, as of one moment. */
export interface StoredSession {
  readonly record: SessionRecord;
  readonly content: SessionContent;
}

/** An item of an inbox. */
export interface StoredItem {
  readonly position: number;
  readonly json: string;
}

/** Which items of an inbox to read. */
export interface ItemRange {
  /** The first position. */
  readonly from: number;
  /** The position behind the last. */
  readonly to: number;
  /** How many items at most, those of the lowest positions. */
  readonly limit: number;
}

/**
 * What came of a compare-and-set. `done`: the record was replaced. `outdated`: another record was there. `duplicate`: the item to
 * enqueue is in the inbox already. Nothing was changed unless it was done.
 */
export type CompareAndSetResult = 'done' | 'outdated' | 'duplicate';

/** What is written together with a record: all of it, or nothing of either. */
export interface RecordChange {
  /**
   * How the content changes. With another incarnation it is whole, and nothing of the one before may remain. The same
   * object for each compare-and-set of one save.
   */
  readonly plan?: SavePlan | undefined;
  /** An item to keep. Refused as a `duplicate` when the inbox holds an item with this id. */
  readonly enqueue?: (StoredItem & { readonly id: string }) | undefined;
  /** Items to drop. The record after the change does not count them as waiting. */
  readonly acknowledge?: readonly InboxItemRef[] | undefined;
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
  readRecord(sessionId: string): Promise<SessionRecord | undefined>;
  /** A session with its content, expired or not. */
  readSession(sessionId: string): Promise<StoredSession | undefined>;
  /**
   * Items of an inbox, in ascending order of position. A used item may be answered or left out: the record says which
   * items wait. None when the session has another incarnation now.
   */
  readInbox(sessionId: string, incarnation: string, range: ItemRange): Promise<readonly StoredItem[]>;
  /**
   * Puts a record in the place of another, if that is still there: one with the same `recordName`. Without one before: if
   * there is none. Without one after: the session goes, with all that belongs to it. One atomic effect, whenever the
   * process dies.
   */
  compareAndSet(
    sessionId: string,
    before: SessionRecord | undefined,
    after: SessionRecord | undefined,
    change: RecordChange,
  ): Promise<CompareAndSetResult>;
  /**
   * Removes a session whose record cannot be read, with all that belongs to it; `false` when there is none. Absent: such a
   * session cannot be deleted.
   */
  discard?(sessionId: string): Promise<boolean>;
  /** The first `limit + 1` sessions that fit, in the order of `compareListedSessions`, without those expired by `now`. */
  list(query: ResolvedSessionQuery, now: Instant): Promise<readonly ListedSession[]>;
  /** The first `limit + 1` sessions whose `dueAt` is not after `at`, by it and then by id, without expired ones. */
  due(query: ResolvedDueQuery, now: Instant): Promise<readonly DueSession[]>;
  /** Removes at most so many sessions that have expired by `now`; and returns how many. */
  prune(now: Instant, limit: number): Promise<number>;
  /** Lets go of what it opened itself. Asked for once; what begins afterwards is refused before it comes here. */
  close(): Promise<void>;
}
