import type { Instant } from '../../clock.ts';
import { BackedSessionStore } from './backed-session-store.ts';
import type { StoreOptions } from './store-options.ts';
import { applySavePlan } from './content/session-content.ts';
import {
  requestedParts,
  type ArchiveChange,
  type CompareAndSetResult,
  type ItemRange,
  type ReadRequest,
  type ReadSession,
  type RecordChange,
  type SessionBackend,
  type StoredItem,
  type StoredSession,
} from './backend/session-backend.ts';
import {
  compareDueSessions,
  compareListedSessions,
  matchesDueQuery,
  matchesSessionQuery,
  type ResolvedDueQuery,
  type ResolvedSessionQuery,
} from './backend/session-query.ts';
import {
  recordDueAt,
  isExpired,
  listedSession,
  recordName,
  type SessionRecord,
} from './record/session-record.ts';
import type { ListedSession } from '../session-info.ts';
import type { StoreCapabilities } from '../session-store.ts';
import type { DueSession, SeenWorker } from '../session-directory.ts';

/** Holds sessions in memory, for as long as the process lives. */
export class MemorySessionStore extends BackedSessionStore {
  constructor(options: StoreOptions = {}) {
    super(new MemoryBackend(), options);
  }
}

type Item = NonNullable<RecordChange['enqueue']>;

/** The waiting items, by position and by id. */
class MemoryInbox {
  readonly items = new Map<number, Item>();
  readonly positions = new Map<string, number>();

  /** Adds an item; returns false when the inbox holds an item with its id. */
  add(item: Item): boolean {
    if (this.positions.has(item.id)) return false;
    this.positions.set(item.id, item.position);
    this.items.set(item.position, item);
    return true;
  }

  remove(position: number): void {
    const item = this.items.get(position);
    if (item === undefined) return;
    this.positions.delete(item.id);
    this.items.delete(position);
  }
}

interface MemoryEntry extends StoredSession {
  readonly inbox: MemoryInbox;
  /** The texts of each archive, by position. */
  readonly archives: Map<string, Map<number, string>>;
}

interface Announcement {
  readonly worker: SeenWorker;
  readonly until: Instant;
}

/** The reference backend, as a model for other backends. Each method is atomic, because it has no `await`. */
export class MemoryBackend implements SessionBackend {
  readonly capabilities: StoreCapabilities = { listing: 'strong', clock: 'client', maxValueBytes: undefined };
  private readonly entries = new Map<string, MemoryEntry>();
  private readonly announced = new Map<string, Announcement>();

  async readRecord(sessionId: string): Promise<SessionRecord | undefined> {
    return this.entries.get(sessionId)?.record;
  }

  async readSession(sessionId: string, request: ReadRequest): Promise<ReadSession | undefined> {
    const found = this.entries.get(sessionId);
    return found && requestedParts(found, request);
  }

  async readInbox(sessionId: string, incarnation: string, range: ItemRange): Promise<readonly StoredItem[]> {
    const items = this.entryOf(sessionId, incarnation)?.inbox.items;
    return items ? itemsIn(range, (position) => items.get(position)) : [];
  }

  async readPosition(sessionId: string, incarnation: string, itemId: string): Promise<number | undefined> {
    return this.entryOf(sessionId, incarnation)?.inbox.positions.get(itemId);
  }

  async readArchive(
    sessionId: string,
    incarnation: string,
    archive: string,
    range: ItemRange,
  ): Promise<readonly StoredItem[]> {
    const texts = this.entryOf(sessionId, incarnation)?.archives.get(archive);
    if (texts === undefined) return [];
    return itemsIn(range, (position) => {
      const json = texts.get(position);
      return json === undefined ? undefined : { position, json };
    });
  }

  async compareAndSet(
    sessionId: string,
    before: SessionRecord | undefined,
    after: SessionRecord | undefined,
    { plan, enqueue, acknowledge = [], archives: changes = [] }: RecordChange,
  ): Promise<CompareAndSetResult> {
    const found = this.entries.get(sessionId);
    if ((found && recordName(found.record)) !== (before && recordName(before))) return 'outdated';
    if (after === undefined) return this.entries.delete(sessionId) ? 'done' : 'outdated';
    const current = found?.record.incarnation === after.incarnation ? found : undefined;
    const content = plan ? applySavePlan(current?.content, plan) : current?.content;
    if (content === undefined) return 'outdated';
    const inbox = current?.inbox ?? new MemoryInbox();
    if (enqueue && !inbox.add(enqueue)) return 'duplicate';
    for (const { position } of acknowledge) inbox.remove(position);
    const archives = current?.archives ?? new Map<string, Map<number, string>>();
    for (const change of changes) changeArchive(archives, change);
    this.entries.set(sessionId, { record: after, content, inbox, archives });
    return 'done';
  }

  async discard(sessionId: string): Promise<boolean> {
    return this.entries.delete(sessionId);
  }

  async list(query: ResolvedSessionQuery, now: Instant): Promise<readonly ListedSession[]> {
    const listed = this.living(now).map((record) => listedSession(record));
    const fitting = listed.filter((session) => matchesSessionQuery(session, query));
    return fitting.toSorted(compareListedSessions(query.order)).slice(0, query.limit + 1);
  }

  async due(query: ResolvedDueQuery, now: Instant): Promise<readonly DueSession[]> {
    const due = this.living(now).flatMap((record) => {
      const at = recordDueAt(record);
      return at === undefined ? [] : [{ sessionId: record.info.sessionId, dueAt: at }];
    });
    const fitting = due.filter((session) => matchesDueQuery(session, query));
    return fitting.toSorted(compareDueSessions).slice(0, query.limit + 1);
  }

  async prune(now: Instant, limit: number): Promise<number> {
    const expired = [...this.entries].filter(([, { record }]) => isExpired(record, now)).slice(0, limit);
    for (const [sessionId] of expired) this.entries.delete(sessionId);
    return expired.length;
  }

  async announce(worker: SeenWorker, until: Instant): Promise<void> {
    if (until > worker.seenAt) this.announced.set(worker.workerName, { worker, until });
    else this.announced.delete(worker.workerName);
  }

  async workers(now: Instant): Promise<readonly SeenWorker[]> {
    return [...this.announced.values()].filter(({ until }) => until > now).map(({ worker }) => worker);
  }

  async close(): Promise<void> {}

  private entryOf(sessionId: string, incarnation: string): MemoryEntry | undefined {
    const entry = this.entries.get(sessionId);
    return entry?.record.incarnation === incarnation ? entry : undefined;
  }

  private living(now: Instant): SessionRecord[] {
    return [...this.entries.values()].map(({ record }) => record).filter((record) => !isExpired(record, now));
  }
}

function itemsIn(
  { from, to, limit }: ItemRange,
  get: (position: number) => StoredItem | undefined,
): readonly StoredItem[] {
  const found: StoredItem[] = [];
  for (let position = from; position < to && found.length < limit; position++) {
    const item = get(position);
    if (item) found.push(item);
  }
  return found;
}

function changeArchive(
  archives: Map<string, Map<number, string>>,
  { archive, put, remove }: ArchiveChange,
): void {
  const texts = archives.get(archive) ?? new Map<number, string>();
  archives.set(archive, texts);
  for (const { position, json } of put) texts.set(position, json);
  for (let position = remove?.from ?? 0; position < (remove?.to ?? 0); position++) texts.delete(position);
}
