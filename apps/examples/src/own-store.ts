// #region store
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as kit from '@holdfast/core/store';
import type { Instant } from '@holdfast/core';
import type { ItemRange, RecordChange, SessionBackend, StoredSession } from '@holdfast/core/store';

type Item = NonNullable<RecordChange['enqueue']>;
interface StoredFile extends StoredSession {
  readonly inbox: ReadonlyMap<number, Item>; // by position
}

/** Keeps each session in a file of its own, for one process. */
class FolderBackend implements SessionBackend {
  readonly capabilities = { listing: 'strong', clock: 'client', maxValueBytes: undefined } as const;
  private readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  async readRecord(sessionId: string) {
    return this.stored(this.pathOf(sessionId))?.record;
  }

  async readSession(sessionId: string) {
    return this.stored(this.pathOf(sessionId));
  }

  async readInbox(sessionId: string, incarnation: string, { from, to, limit }: ItemRange) {
    const found = this.stored(this.pathOf(sessionId));
    const items = found?.record.incarnation === incarnation ? [...found.inbox.values()] : [];
    return items.filter(({ position }) => position >= from && position < to).slice(0, limit);
  }

  // One effect: there is no `await` between reading and renaming, and no other process.
  async compareAndSet(...[sessionId, before, after, change]: Parameters<SessionBackend['compareAndSet']>) {
    const path = this.pathOf(sessionId);
    const found = this.stored(path);
    const isThere = (found && kit.recordName(found.record)) === (before && kit.recordName(before));
    if (!isThere) return 'outdated'; // another writer was first
    if (after) {
      const kept = found?.record.incarnation === after.incarnation ? found : undefined; // else nothing of it
      const content = change.plan ? kit.applySavePlan(kept?.content, change.plan) : kept?.content;
      const inbox = new Map(kept?.inbox);
      const { enqueue, acknowledge = [] } = change;
      if (enqueue && [...inbox.values()].some(({ id }) => id === enqueue.id)) return 'duplicate';
      if (enqueue) inbox.set(enqueue.position, enqueue);
      for (const { position } of acknowledge) inbox.delete(position);
      writeFileSync(`${path}.new`, JSON.stringify({ record: after, content, inbox }, mapsAsLists));
      renameSync(`${path}.new`, path);
    } else rmSync(path);
    return 'done';
  }

  async list(...[query, now]: Parameters<SessionBackend['list']>) {
    const listed = this.records((record) => !kit.isExpired(record, now)).map(kit.listedSession);
    const fitting = listed.filter((session) => kit.matchesSessionQuery(session, query));
    return fitting.toSorted(kit.compareListedSessions(query.order)).slice(0, query.limit + 1);
  }

  async due(...[query, now]: Parameters<SessionBackend['due']>) {
    const due = this.records((record) => !kit.isExpired(record, now)).flatMap((record) => {
      const dueAt = kit.recordDueAt(record);
      return dueAt === undefined ? [] : [{ sessionId: record.info.sessionId, dueAt }];
    });
    const fitting = due.filter((session) => kit.matchesDueQuery(session, query));
    return fitting.toSorted(kit.compareDueSessions).slice(0, query.limit + 1);
  }

  async prune(now: Instant, limit: number) {
    const expired = this.records((record) => kit.isExpired(record, now)).slice(0, limit);
    for (const { info } of expired) rmSync(this.pathOf(info.sessionId));
    return expired.length;
  }

  async close() {}

  /** Any text is a session id; few are names of files. */
  private pathOf(sessionId: string) {
    return join(this.folder, `${createHash('sha256').update(sessionId).digest('hex')}.json`);
  }

  private stored(path: string): StoredFile | undefined {
    if (!existsSync(path)) return undefined;
    const { record, content, inbox } = JSON.parse(readFileSync(path, 'utf8'));
    const [values, lists] = [new Map(content.values), new Map(content.lists)] as [
      Map<string, string>,
      Map<string, string[]>,
    ];
    return {
      record: kit.readSessionRecord(record),
      content: { head: content.head, values, lists },
      inbox: new Map(inbox),
    };
  }

  private records(isWanted: (record: kit.SessionRecord) => boolean) {
    const files = readdirSync(this.folder).filter((name) => name.endsWith('.json'));
    const all = files.flatMap((name) => this.stored(join(this.folder, name)) ?? []);
    return all.map(({ record }) => record).filter(isWanted);
  }
}

const mapsAsLists = (_name: string, value: unknown) => (value instanceof Map ? [...value] : value);
// #endregion

// #region cases
import { cpSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { sessionStoreTests } from '@holdfast/conformance';
import type { CreateStore } from '@holdfast/conformance';

const folder = mkdtempSync(join(tmpdir(), 'sessions-'));
let stores = 0;
const current = () => join(folder, `${stores}`);
const reopen: CreateStore = async (clock, settings) =>
  new kit.BackedSessionStore(new FolderBackend(current()), { clock, ...settings });
const createStore: CreateStore = (...made) => {
  stores += 1;
  return reopen(...made);
};
const remember = async () => {
  cpSync(current(), join(folder, 'copy'), { recursive: true });
  return async () => {
    rmSync(current(), { recursive: true });
    renameSync(join(folder, 'copy'), current());
  };
};

for (const { name, skip, run } of sessionStoreTests(createStore, { reopen, remember })) {
  void test(name, { skip }, run); // => …fail 0…
}
// #endregion
