import {
  applySavePlan,
  compareDueSessions,
  compareListedSessions,
  recordDueAt,
  matchesDueQuery,
  matchesSessionQuery,
  isExpired,
  listedSession,
  readSessionRecord,
  recordName,
} from '@holdfast/core/store';
import type { Instant, ListedSession } from '@holdfast/core';
import type {
  DueSession,
  ItemRange,
  RecordChange,
  ResolvedDueQuery,
  ResolvedSessionQuery,
  SeenWorker,
  SessionBackend,
  SessionRecord,
  StoreCapabilities,
  StoredItem,
  StoredSession,
  CompareAndSetResult,
} from '@holdfast/core/store';

type Item = NonNullable<RecordChange['enqueue']>;

export interface Entry extends StoredSession {
  /** The items by position. */
  readonly inbox: ReadonlyMap<number, Item>;
  /** The entries of each archive, by position. */
  readonly archives: ReadonlyMap<string, ReadonlyMap<number, string>>;
}

type Archives = Entry['archives'];

export type Entries = Map<string, Entry>;

/** The operations of the backend. A defect replaces one of them. */
const soundWays = {
  /** The key of a session. */
  keyOf: (sessionId: string): string => sessionId,
  /** Returns whether the stored record is the expected one. */
  isThere: (found: SessionRecord | undefined, before: SessionRecord | undefined): boolean =>
    (found && recordName(found)) === (before && recordName(before)),
  /** Returns the record to store. */
  kept: (after: SessionRecord, _found: StoredSession | undefined, _change: RecordChange): SessionRecord =>
    after,
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
  compareListedSessions,
  recordDueAt,
  matchesDueQuery,
  compareDueSessions,
  pruned: (limit: number): number => limit,
};

export type Ways = typeof soundWays;

/** The announced workers, by the map that several backends share. */
const announced = new WeakMap<
  Entries,
  Map<string, { readonly worker: SeenWorker; readonly until: Instant }>
>();

function workersOf(entries: Entries): Map<string, { readonly worker: SeenWorker; readonly until: Instant }> {
  const workers = announced.get(entries) ?? new Map();
  announced.set(entries, workers);
  return workers;
}

/** A backend on a map, which several backends can share. */
export class MapBackend implements SessionBackend {
  readonly capabilities: StoreCapabilities = { listing: 'strong', clock: 'client', maxValueBytes: undefined };
  private readonly entries: Entries;
  private readonly ways: Ways;

  constructor(entries: Entries, ways: Partial<Ways> = {}) {
    this.entries = entries;
    this.ways = { ...soundWays, ...ways };
  }

  async readRecord(sessionId: string): Promise<SessionRecord | undefined> {
    const record = this.found(sessionId)?.record;
    return record && readSessionRecord(JSON.parse(JSON.stringify(this.ways.answered(record))));
  }

  async readSession(sessionId: string): Promise<StoredSession | undefined> {
    const found = this.found(sessionId);
    return found && { ...found, record: this.ways.answered(found.record) };
  }

  async readInbox(sessionId: string, incarnation: string, range: ItemRange): Promise<readonly StoredItem[]> {
    const found = this.found(sessionId);
    return found?.record.incarnation === incarnation ? this.ways.read(found.inbox, range) : [];
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
    const workers = workersOf(this.entries);
    if (until > worker.seenAt) workers.set(worker.workerName, { worker, until });
    else workers.delete(worker.workerName);
  }

  async workers(now: Instant): Promise<readonly SeenWorker[]> {
    const workers = [...workersOf(this.entries).values()];
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
    const key = this.ways.keyOf(sessionId);
    if (after) this.entries.set(key, this.changed(found, after, change));
    else this.entries.delete(key);
    return 'done';
  }

  async list(query: ResolvedSessionQuery, now: Instant): Promise<readonly ListedSession[]> {
    const { isListed, matchesSessionQuery: fits, compareListedSessions: compare } = this.ways;
    const infos = this.records()
      .filter((record) => isListed(record, now))
      .map((record) => listedSession(record));
    return infos
      .filter((info) => fits(info, query))
      .toSorted(compare(query.order))
      .slice(0, query.limit + 1);
  }

  async due(query: ResolvedDueQuery, now: Instant): Promise<readonly DueSession[]> {
    const { isAwaited, recordDueAt: dueOf, matchesDueQuery: fits, compareDueSessions: compare } = this.ways;
    const due = this.records().flatMap((record) => {
      const at = isAwaited(record, now) ? dueOf(record) : undefined;
      return at === undefined ? [] : [{ sessionId: record.info.sessionId, dueAt: at }];
    });
    return due
      .filter((one) => fits(one, query))
      .toSorted(compare)
      .slice(0, query.limit + 1);
  }

  async prune(now: Instant, limit: number): Promise<number> {
    const expired = [...this.entries].filter(([, { record }]) => this.ways.isPruned(record, now));
    const chosen = expired.slice(0, this.ways.pruned(limit));
    for (const [key] of chosen) this.entries.delete(key);
    return chosen.length;
  }

  async close(): Promise<void> {}

  private found(sessionId: string): Entry | undefined {
    return this.entries.get(this.ways.keyOf(sessionId));
  }

  private records(): SessionRecord[] {
    return [...this.entries.values()].map(({ record }) => record);
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
