import type { Instant } from '../../../clock.ts';
import {
  missingIn,
  partsOf,
  type KnownContent,
  type MissingParts,
  type ReadContent,
} from '../content/known-content.ts';
import { readHead } from '../content/saved-head.ts';
import { readStored, type SessionContent, type SavePlan } from '../content/session-content.ts';
import type { ResolvedDueQuery, ResolvedSessionQuery, UnreadableEntry } from './session-query.ts';
import type { SessionRecord } from '../record/session-record.ts';
import type { ListedSession } from '../../session-info.ts';
import type { StoreCapabilities } from '../../session-store.ts';
import type { InboxItemRef } from '../../session-claim.ts';
import type { DueSession, SeenWorker } from '../../session-directory.ts';

/** How much of a session a reader needs: the record, also the head of the content, or also the content. */
export type ReadExtent = 'record' | 'head' | 'content';

/** The request of a reader: what it needs of a session, and what it knows already. */
export interface ReadRequest {
  /** Returns how much the reader needs, by the record. */
  readonly extent: (record: SessionRecord) => ReadExtent;
  /** The content that the reader knows, and the record with which the store returned it. */
  readonly known?: KnownSession | undefined;
  /**
   * True when the reader often needs less than the content. A database that would take a further request to read the record
   * first reads it first only then.
   */
  readonly isRecordFirst?: boolean | undefined;
}

/** A session that a reader knows. The store may have another one now. */
export interface KnownSession extends KnownContent {
  readonly record: SessionRecord;
}

/** A session without its inbox, as of one instant. */
export interface ReadSession {
  readonly record: SessionRecord;
  /** The content as far as the reader needs it: of a head alone, it has no values and no lists. */
  readonly content?: ReadContent | undefined;
}

/** A session without its inbox, with all of its content. */
export interface StoredSession {
  readonly record: SessionRecord;
  readonly content: SessionContent;
}

/**
 * Returns the parts of a content that a reader must read, by its record and its head. For another incarnation than the known
 * one, these are all parts.
 * @throws StateFormatError that names the session, for an unreadable head.
 */
export function missingParts(
  { info, incarnation }: SessionRecord,
  head: string,
  known: KnownSession | undefined,
): MissingParts {
  const where = `session ${JSON.stringify(info.sessionId)}`;
  const saved = readStored(where, 'a head that this release can read', () => readHead(head));
  return missingIn(saved, known?.record.incarnation === incarnation ? known : undefined);
}

/** Returns what a reader needs of a session. For backends that have all of it at hand. */
export function requestedParts(
  { record, content }: StoredSession,
  { extent, known }: ReadRequest,
): ReadSession {
  switch (extent(record)) {
    case 'record':
      return { record };
    case 'head':
      return { record, content: { head: content.head, values: new Map(), lists: [] } };
    case 'content':
      return { record, content: partsOf(content, missingParts(record, content.head, known)) };
  }
}

/** An inbox item. */
export interface StoredItem {
  readonly position: number;
  readonly json: string;
}

/** Selects the inbox items to read. */
export interface ItemRange {
  /** The first position. */
  readonly from: number;
  /** The position behind the last. */
  readonly to: number;
  /** The largest number of items to return: those with the lowest positions. */
  readonly limit: number;
}

/**
 * The result of a compare-and-set. `done`: the record was replaced. `outdated`: the backend holds another record.
 * `duplicate`: the inbox already holds the item to enqueue. Unless the result is `done`, nothing was changed.
 */
export type CompareAndSetResult = 'done' | 'outdated' | 'duplicate';

/**
 * A change of an archive: a list that belongs to an incarnation of a session, and is read apart from its content. The
 * entry at a position never changes, so a backend may also write it after the record, as long as no acknowledged entry is
 * lost.
 */
export interface ArchiveChange {
  /** A short ASCII word. */
  readonly archive: string;
  /** Entries to put, at positions without an entry. */
  readonly put: readonly StoredItem[];
  /** Entries to remove: those from this position to the one before `to`. */
  readonly remove?: { readonly from: number; readonly to: number } | undefined;
}

/** The changes that the backend writes together with a record: all of them and the record, or none. */
export interface RecordChange {
  /**
   * The change of the content. For another incarnation the plan is whole, and nothing of the incarnation before may
   * remain. Each compare-and-set of one save passes the same plan object.
   */
  readonly plan?: SavePlan | undefined;
  /** An item to add. The backend refuses it as a `duplicate` when the inbox holds an item with this id. */
  readonly enqueue?: (StoredItem & { readonly id: string }) | undefined;
  /** Items to remove. The record after the change does not count them as waiting. */
  readonly acknowledge?: readonly InboxItemRef[] | undefined;
  /** Changes of archives. A whole plan leaves archives as they are; another incarnation has none. */
  readonly archives?: readonly ArchiveChange[] | undefined;
}

/**
 * Connects a database to `BackedSessionStore`: it reads, writes a save plan on a condition, and walks two indexes. Core
 * decides about claims, conflicts, retries and expiry, with functions of `SessionRecord`.
 * All reads see every acknowledged write, except that `list` and `due` may lag where the capabilities declare it.
 *
 * Ids of sessions and items are well-formed Unicode of 1 to 1,000 UTF-16 units, and may contain NUL and any other
 * control character. The names of agents, and those of values and lists in a plan, are any strings: they may contain NUL
 * and lone surrogates, which UTF-8 cannot encode. A backend stores each of them exactly, and compares it by its code
 * units. The texts of values, lists and items are JSON without lone surrogates.
 *
 * Methods reject with `StoreUnavailableError`, `StoreThrottledError`, `SessionTooLargeError`, and with
 * `StateFormatError` for unreadable data.
 */
export interface SessionBackend {
  readonly capabilities: StoreCapabilities;
  /**
   * Returns the present instant of the clock by which leases and sessions expire; a promise where the database must be
   * queried. Without this method, the store uses the clock of its options.
   */
  now?(): Instant | Promise<Instant>;
  /** Reads the record of a session, expired or not. */
  readRecord(sessionId: string): Promise<SessionRecord | undefined>;
  /**
   * Reads the record of a session, expired or not, and as of the same instant as much of its content as the request
   * demands by `extent`. Of the content it returns the parts that `missingParts` names, or all parts, in as few requests as
   * the database allows. The store verifies what it gets: when the known parts turn out to be others, it reads all.
   */
  readSession(sessionId: string, request: ReadRequest): Promise<ReadSession | undefined>;
  /**
   * Reads inbox items, in ascending order of position. The result may contain or omit used items: the record determines
   * which items wait. The result is empty when the session has another incarnation now.
   */
  readInbox(sessionId: string, incarnation: string, range: ItemRange): Promise<readonly StoredItem[]>;
  /**
   * Returns the position of the inbox item with an id; `undefined` when the inbox holds no such item, and when the session
   * has another incarnation now. If it keeps used items, it prefers the item that waits. The cost must not depend on the
   * number of waiting items.
   */
  readPosition(sessionId: string, incarnation: string, itemId: string): Promise<number | undefined>;
  /**
   * Reads the entries of an archive, in ascending order of position. The result is empty when the session has another
   * incarnation now. It may contain entries that were removed.
   */
  readArchive(
    sessionId: string,
    incarnation: string,
    archive: string,
    range: ItemRange,
  ): Promise<readonly StoredItem[]>;
  /**
   * Replaces the record `before` by `after` if the backend still holds a record with the same `recordName`. Without
   * `before`, it writes only if the session does not exist. Without `after`, it removes the session and all that
   * belongs to it. The effect is atomic, whenever the process dies.
   */
  compareAndSet(
    sessionId: string,
    before: SessionRecord | undefined,
    after: SessionRecord | undefined,
    change: RecordChange,
  ): Promise<CompareAndSetResult>;
  /**
   * Removes a session whose record is unreadable, with all that belongs to it. Returns `false` when the session does
   * not exist. Without this method, such a session cannot be deleted.
   */
  discard?(sessionId: string): Promise<boolean>;
  /**
   * Returns whether a session belongs to an owner, by the index: its record is unreadable. Without this method, such a
   * session does not exist for its owner.
   */
  isOwnedBy?(sessionId: string, owner: string): Promise<boolean>;
  /**
   * Returns the first `limit + 1` sessions that match, in the order of `compareListedSessions`, without those that have
   * expired at `now`. A session whose record is unreadable, or disagrees with its index entry, is an `UnreadableEntry`: it
   * must not end the list. The index decides whether it matches. It must not match a filter that the index cannot check.
   */
  list(query: ResolvedSessionQuery, now: Instant): Promise<readonly (ListedSession | UnreadableEntry)[]>;
  /**
   * Returns the first `limit + 1` sessions whose `dueAt` is not after `at`, in the order of `compareDueSessions`,
   * without expired ones. Unreadable sessions are in it as they are in `list`.
   */
  due(query: ResolvedDueQuery, now: Instant): Promise<readonly (DueSession | UnreadableEntry)[]>;
  /** Stores what a worker announces, until the instant `until`; removes the worker when it is in the past. */
  announce(worker: SeenWorker, until: Instant): Promise<void>;
  /** Returns the announced workers whose `until` is after `now`, in any order. It omits unreadable announcements. */
  workers(now: Instant): Promise<readonly SeenWorker[]>;
  /** Removes at most `limit` sessions that have expired at `now`, and returns how many it removed. */
  prune(now: Instant, limit: number): Promise<number>;
  /**
   * Closes the connections that the backend opened itself. The store calls it once, and refuses later calls before they
   * reach the backend.
   */
  close(): Promise<void>;
}
