// #region store
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as core from '@holdfast/core';
import type { Instant, SessionBackend, StoredSession } from '@holdfast/core';

/** Keeps each session in a file of its own, for one process. */
class FolderBackend implements SessionBackend {
  readonly capabilities = { listing: 'strong', clock: 'client', maxValueBytes: undefined } as const;
  private readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  async read(sessionId: string) {
    return this.stored(this.pathOf(sessionId))?.record;
  }

  async readAll(sessionId: string) {
    return this.stored(this.pathOf(sessionId));
  }

  async readItems(sessionId: string, _incarnation: string, ids: readonly string[]) {
    return new Map([...((await this.readAll(sessionId))?.inbox ?? [])].filter(([id]) => ids.includes(id)));
  }

  // One effect: there is no `await` between reading and renaming, and no other process.
  async swap(...[sessionId, before, after, change]: Parameters<SessionBackend['swap']>) {
    const path = this.pathOf(sessionId);
    const found = this.stored(path);
    if (found?.record.incarnation !== before?.incarnation || found?.record.writes !== before?.writes) {
      return false; // somebody else came first
    }
    if (after) {
      const kept = found?.record.incarnation === after.incarnation ? found : undefined; // else nothing of it
      const saved = change.plan ? core.carriedOut(kept?.saved, change.plan) : kept?.saved;
      const inbox = new Map(kept?.inbox);
      if (change.enqueue) inbox.set(change.enqueue.id, change.enqueue.item);
      for (const id of change.acknowledge ?? []) inbox.delete(id);
      writeFileSync(`${path}.new`, JSON.stringify({ record: after, saved, inbox }, mapsAsLists));
      renameSync(`${path}.new`, path);
    } else rmSync(path);
    return true;
  }

  async list(...[query, now]: Parameters<SessionBackend['list']>) {
    const infos = this.records((record) => !core.isExpired(record, now)).map(({ info }) => info);
    const fitting = infos.filter((info) => core.fitsQuery(info, query));
    return fitting.toSorted(core.compareSessionInfos(query.order)).slice(0, query.limit + 1);
  }

  async due(...[query, now]: Parameters<SessionBackend['due']>) {
    const due = this.records((record) => !core.isExpired(record, now)).flatMap((record) => {
      const dueAt = core.dueAt(record);
      return dueAt === undefined ? [] : [{ sessionId: record.info.sessionId, dueAt }];
    });
    const fitting = due.filter((session) => core.fitsDue(session, query));
    return fitting.toSorted(core.compareDue).slice(0, query.limit + 1);
  }

  async prune(now: Instant, limit: number) {
    const expired = this.records((record) => core.isExpired(record, now)).slice(0, limit);
    for (const { info } of expired) rmSync(this.pathOf(info.sessionId));
    return expired.length;
  }

  async close() {}

  /** Any text is a session id; few are names of files. */
  private pathOf(sessionId: string) {
    return join(this.folder, `${createHash('sha256').update(sessionId).digest('hex')}.json`);
  }

  private stored(path: string): StoredSession | undefined {
    if (!existsSync(path)) return undefined;
    const { record, saved, inbox } = JSON.parse(readFileSync(path, 'utf8'));
    const [values, lists] = [new Map(saved.values), new Map(saved.lists)] as [
      Map<string, string>,
      Map<string, string[]>,
    ];
    return {
      record: core.readSessionRecord(record),
      saved: { head: saved.head, values, lists },
      inbox: new Map(inbox),
    };
  }

  private records(isWanted: (record: core.SessionRecord) => boolean) {
    const files = readdirSync(this.folder).filter((name) => name.endsWith('.json'));
    const all = files.flatMap((name) => this.stored(join(this.folder, name)) ?? []);
    return all.map(({ record }) => record).filter(isWanted);
  }
}

const mapsAsLists = (_name: string, value: unknown) => (value instanceof Map ? [...value] : value);
// #endregion

// #region cases
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { sessionStoreTests } from '@holdfast/conformance';
import type { CreateStore } from '@holdfast/conformance';

const folder = mkdtempSync(join(tmpdir(), 'sessions-'));
let stores = 0;
const reopen: CreateStore = async (clock, settings) =>
  new core.BackedSessionStore(new FolderBackend(join(folder, `${stores}`)), { clock, ...settings });
const createStore: CreateStore = (...made) => {
  stores += 1;
  return reopen(...made);
};

for (const { name, skip, run } of sessionStoreTests(createStore, { reopen })) {
  void test(name, { skip }, run); // => …fail 0…
}
// #endregion
