import { SessionTooLargeError, StateFormatError, type Instant, type ListedSession } from '@holdfast/core';
import {
  applySavePlan,
  compareDueSessions,
  compareListedSessions,
  recordDueAt,
  matchesDueQuery,
  matchesSessionQuery,
  isExpired,
  listedSession,
  parseSessionRecord,
  recordName,
  requestedParts,
  type DueSession,
  type ItemRange,
  type ReadRequest,
  type ReadSession,
  type RecordChange,
  type ResolvedDueQuery,
  type ResolvedSessionQuery,
  type SeenWorker,
  type SessionBackend,
  type SessionRecord,
  type StoreCapabilities,
  type StoredItem,
  type SavePlan,
  type StoredSession,
  type UnreadableEntry,
  type CompareAndSetResult,
} from '@holdfast/core/store';

type Item = NonNullable<RecordChange['enqueue']>;

export interface Entry extends StoredSession {
  /** The items by position. */
  readonly inbox: ReadonlyMap<number, Item>;
  /** The entries of each archive, by position. */
  readonly archives: ReadonlyMap<string, ReadonlyMap<number, string>>;
  /** The text that a case has put in the place of the record. `record` is then what the indexes know. */
  readonly damaged?: string;
}

type Archives = Entry['archives'];

/** The sessions of a storage, by key. */
export class Entries extends Map<string, Entry> {
  /** The number of rows that a store with a defect has left behind. */
  remains = 0;
  /** The announced workers, by name. */
  readonly workers = new Map<string, { readonly worker: SeenWorker; readonly until: Instant }>();
}

/** The number of rows of a database that holds these sessions, as stores on SQL have them. */
export function rowsIn(entries: Entries): number {
  return [...entries.values()].reduce((sum, entry) => sum + rowsOf(entry), entries.remains);
}

/** The rows of a session: the record, and each value, element of a list, inbox item and entry of an archive. */
export function rowsOf(entry: Entry): number {
  const { content, inbox, archives } = entry;
  const entries = [...archives.values()].reduce((sum, { size }) => sum + size, 0);
  return 1 + content.values.size + elementsOf(entry) + inbox.size + entries;
}

/** The elements in all lists of a session. */
export function elementsOf({ content }: Entry): number {
  return [...content.lists.values()].reduce((sum, texts) => sum + texts.length, 0);
}

/** The largest value that the backend accepts, in bytes. */
export const MAX_VALUE_BYTES = 2_000_000;

/** The operations of the backend. A defect replaces one of them. */
const soundWays = {
  /** The key of a session. */
  keyOf: (sessionId: string): string => sessionId,
  /** Returns whether the stored record is the expected one. */
  isThere: (found: SessionRecord | undefined, before: SessionRecord | undefined): boolean =>
    (found && recordName(found)) === (before && recordName(before)),
  /** Returns the record to store. */
  kept: (
    after: SessionRecord,
    _found: Pick<StoredSession, 'record'> | undefined,
    _change: RecordChange,
  ): SessionRecord => after,
  applySavePlan,
  /** Returns the inbox after a write. */
  inbox: (before: Entry['inbox'], { enqueue, acknowledge = [] }: RecordChange): Entry['inbox'] => {
    const inbox = new Map(before);
    if (enqueue) inbox.set(enqueue.position, enqueue);
    for (const { position } of acknowledge) inbox.delete(position);
    return inbox;
  },
  /** Returns the archives after a write. */
  archives: (before: Archives, { archives = [] }: RecordChange): Archives => {
    const result = new Map(before);
    for (const { archive, put, remove = { from: 0, to: 0 } } of archives) {
      const entries = new Map(result.get(archive));
      for (const { position, json } of put) entries.set(position, json);
      for (let position = remove.from; position < remove.to; position++) entries.delete(position);
      result.set(archive, entries);
    }
    return result;
  },
  /** Returns the entries of an archive in a range of positions. */
  readEntries: (
    entries: ReadonlyMap<number, string>,
    { from, to, limit }: ItemRange,
  ): readonly StoredItem[] =>
    [...entries]
      .map(([position, json]) => ({ position, json }))
      .filter(({ position }) => position >= from && position < to)
      .toSorted((left, right) => left.position - right.position)
      .slice(0, limit),
  /** Returns whether an announced worker counts. */
  isAlive: (until: Instant, now: Instant): boolean => until > now,
  /** Returns whether the inbox has an item with this id. */
  isDuplicate: (inbox: Entry['inbox'], id: string): boolean =>
    [...inbox.values()].some((item) => item.id === id),
  /** Returns the position of the item with an id. */
  positionOf: (inbox: Entry['inbox'], id: string): number | undefined =>
    [...inbox.values()].find((item) => item.id === id)?.position,
  /** Returns the items in a range of positions. */
  read: (inbox: Entry['inbox'], { from, to, limit }: ItemRange): readonly StoredItem[] =>
    [...inbox.values()]
      .filter(({ position }) => position >= from && position < to)
      .toSorted((left, right) => left.position - right.position)
      .slice(0, limit),
  /** Returns the record for a reader. */
  answered: (record: SessionRecord): SessionRecord => record,
  isListed: (record: SessionRecord, now: Instant): boolean => !isExpired(record, now),
  isAwaited: (record: SessionRecord, now: Instant): boolean => !isExpired(record, now),
  isPruned: isExpired,
  matchesSessionQuery,
  compareListedSessions:
    (order: ResolvedSessionQuery['order']) =>
    (left: ListedSession, right: ListedSession): number =>
      compareListedSessions(order)(left, right),
  recordDueAt,
  matchesDueQuery: (session: DueSession, query: ResolvedDueQuery): boolean => matchesDueQuery(session, query),
  compareDueSessions: (left: DueSession, right: DueSession): number => compareDueSessions(left, right),
  /** Reads the record of an entry. @throws StateFormatError for a damaged one */
  parsed: ({ record, damaged }: Entry): SessionRecord =>
    parseSessionRecord(damaged ?? JSON.stringify(record), record.info.sessionId),
  /** Returns the entry of a list for a session whose record is unreadable, or none. `indexed` is what the index knows. */
  unreadable: <T extends object>(entry: UnreadableEntry, _indexed: T): T | UnreadableEntry | undefined =>
    entry,
  /** Returns whether the index knows the owner of a session. */
  isOwner: (indexed: string | undefined, owner: string): boolean => indexed === owner,
  /** Removes an unreadable session. */
  discards: true as boolean,
  pruned: (limit: number): number => limit,
  /** Returns the size of a value, which the backend compares with `maxValueBytes`. */
  bytesOf: (json: string): number => Buffer.byteLength(json),
  /** Returns the number of rows of one session that a write, or `prune`, leaves behind. */
  remains: (_before: Entry | undefined, _after: Entry | undefined): number => 0,
};

export type Ways = typeof soundWays;

/** A backend on a map, which several backends can share. */
export class MapBackend implements SessionBackend {
  readonly capabilities: StoreCapabilities = {
    listing: 'strong',
    clock: 'client',
    maxValueBytes: MAX_VALUE_BYTES,
  };
  private readonly entries: Entries;
  private readonly ways: Ways;

  constructor(entries: Entries, ways: Partial<Ways> = {}) {
    this.entries = entries;
    this.ways = { ...soundWays, ...ways };
  }

  async readRecord(sessionId: string): Promise<SessionRecord | undefined> {
    const found = this.found(sessionId);
    return found && this.read(found);
  }

  async readSession(sessionId: string, request: ReadRequest): Promise<ReadSession | undefined> {
    const found = this.found(sessionId);
    return found && requestedParts({ record: this.read(found), content: found.content }, request);
  }

  async readInbox(sessionId: string, incarnation: string, range: ItemRange): Promise<readonly StoredItem[]> {
    const found = this.found(sessionId);
    return found?.record.incarnation === incarnation ? this.ways.read(found.inbox, range) : [];
  }

  async readPosition(sessionId: string, incarnation: string, itemId: string): Promise<number | undefined> {
    const found = this.found(sessionId);
    if (found?.record.incarnation !== incarnation) return undefined;
    return this.ways.positionOf(found.inbox, itemId);
  }

  async readArchive(
    sessionId: string,
    incarnation: string,
    archive: string,
    range: ItemRange,
  ): Promise<readonly StoredItem[]> {
    const found = this.found(sessionId);
    if (found?.record.incarnation !== incarnation) return [];
    return this.ways.readEntries(found.archives.get(archive) ?? new Map(), range);
  }

  async announce(worker: SeenWorker, until: Instant): Promise<void> {
    const workers = this.entries.workers;
    if (until > worker.seenAt) workers.set(worker.workerName, { worker, until });
    else workers.delete(worker.workerName);
  }

  async workers(now: Instant): Promise<readonly SeenWorker[]> {
    const workers = [...this.entries.workers.values()];
    return workers.filter(({ until }) => this.ways.isAlive(until, now)).map(({ worker }) => worker);
  }

  async compareAndSet(
    sessionId: string,
    before: SessionRecord | undefined,
    after: SessionRecord | undefined,
    change: RecordChange,
  ): Promise<CompareAndSetResult> {
    const found = this.found(sessionId);
    if (!this.ways.isThere(found?.record, before)) return 'outdated';
    const { enqueue } = change;
    if (enqueue && found && this.ways.isDuplicate(found.inbox, enqueue.id)) return 'duplicate';
    this.checkSizes(sessionId, change.plan);
    this.replace(this.ways.keyOf(sessionId), after && this.changed(found, after, change));
    return 'done';
  }

  async discard(sessionId: string): Promise<boolean> {
    return this.ways.discards && this.entries.delete(this.ways.keyOf(sessionId));
  }

  async isOwnedBy(sessionId: string, owner: string): Promise<boolean> {
    return this.ways.isOwner(this.found(sessionId)?.record.info.owner, owner);
  }

  async list(
    query: ResolvedSessionQuery,
    now: Instant,
  ): Promise<readonly (ListedSession | UnreadableEntry)[]> {
    const { isListed, matchesSessionQuery: fits, compareListedSessions: compare } = this.ways;
    const found = [...this.entries.values()].flatMap((entry) => {
      const indexed = listedSession(entry.record);
      if (!isListed(entry.record, now) || !fits(indexed, query)) return [];
      const shown = this.entryOf(entry, indexed[query.order], indexed);
      return shown ? [{ indexed, shown }] : [];
    });
    found.sort((left, right) => compare(query.order)(left.indexed, right.indexed));
    return found.slice(0, query.limit + 1).map(({ shown }) => shown);
  }

  async due(query: ResolvedDueQuery, now: Instant): Promise<readonly (DueSession | UnreadableEntry)[]> {
    const { isAwaited, recordDueAt: dueOf, matchesDueQuery: fits, compareDueSessions: compare } = this.ways;
    const found = [...this.entries.values()].flatMap((entry) => {
      const { record } = entry;
      const dueAt = isAwaited(record, now) ? dueOf(record) : undefined;
      if (dueAt === undefined) return [];
      const indexed = { sessionId: record.info.sessionId, dueAt };
      const shown = fits(indexed, query) ? this.entryOf(entry, dueAt, indexed) : undefined;
      return shown ? [{ indexed, shown }] : [];
    });
    found.sort((left, right) => compare(left.indexed, right.indexed));
    return found.slice(0, query.limit + 1).map(({ shown }) => shown);
  }

  /** Returns what a list shows of a session: what the index knows of it, unless its record is damaged. */
  private entryOf<T extends object>(entry: Entry, at: Instant, indexed: T): T | UnreadableEntry | undefined {
    if (entry.damaged === undefined) return indexed;
    const { sessionId } = entry.record.info;
    try {
      this.ways.parsed(entry);
      throw new StateFormatError(`session "${sessionId}"`, 'the facts of the index', 'others');
    } catch (error) {
      if (error instanceof StateFormatError) return this.ways.unreadable({ sessionId, at, error }, indexed);
      throw error;
    }
  }

  async prune(now: Instant, limit: number): Promise<number> {
    const expired = [...this.entries].filter(([, { record }]) => this.ways.isPruned(record, now));
    const chosen = expired.slice(0, this.ways.pruned(limit));
    for (const [key] of chosen) this.replace(key, undefined);
    return chosen.length;
  }

  async close(): Promise<void> {}

  private replace(key: string, after: Entry | undefined): void {
    this.entries.remains += this.ways.remains(this.entries.get(key), after);
    if (after) this.entries.set(key, after);
    else this.entries.delete(key);
  }

  private checkSizes(sessionId: string, plan: SavePlan | undefined): void {
    const texts = [...(plan?.values.values() ?? []), ...(plan?.lists ?? []).flatMap(({ append }) => append)];
    for (const text of texts) {
      // A UTF-16 unit takes at most 3 bytes.
      const bytes = text === undefined || text.length * 3 <= MAX_VALUE_BYTES ? 0 : this.ways.bytesOf(text);
      if (bytes > MAX_VALUE_BYTES) throw new SessionTooLargeError(sessionId, bytes, MAX_VALUE_BYTES);
    }
  }

  private found(sessionId: string): Entry | undefined {
    return this.entries.get(this.ways.keyOf(sessionId));
  }

  private read(entry: Entry): SessionRecord {
    return this.ways.answered(this.ways.parsed(entry));
  }

  private changed(found: Entry | undefined, after: SessionRecord, change: RecordChange): Entry {
    const before = found?.record.incarnation === after.incarnation ? found : undefined;
    const content = change.plan ? this.ways.applySavePlan(before?.content, change.plan) : before?.content;
    if (!content) throw new Error('A record was swapped in with nothing to say.');
    const inbox = this.ways.inbox(before?.inbox ?? new Map(), change);
    const archives = this.ways.archives(before?.archives ?? new Map(), change);
    return { record: this.ways.kept(after, found, change), content, inbox, archives };
  }
}
