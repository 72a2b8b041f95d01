import { DatabaseSync } from 'node:sqlite';
import type { AgentSession } from '@holdfast/core';
import { SqliteSessionStore, type SqliteDatabase } from '@holdfast/store-sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { newSession, testClock, withFact } from '@holdfast/conformance';
import { temporaryFolders } from './temporary-folders.ts';

const { newFile } = temporaryFolders();
const clock = testClock();
let path: string;
let database: DatabaseSync;

beforeEach(() => {
  path = newFile();
  database = new DatabaseSync(path);
});

afterEach(() => {
  database.close();
});

/** A database that calls a function immediately before the first execution of a piece of SQL. */
function interrupted(sql: string, happens: () => void): SqliteDatabase {
  let isDue = true;
  const look = (text: string): void => {
    if (!isDue || !text.trimStart().startsWith(sql)) return;
    isDue = false;
    happens();
  };
  return {
    exec(text) {
      look(text);
      database.exec(text);
    },
    prepare(text) {
      const statement = database.prepare(text);
      return {
        get(parameters) {
          look(text);
          return statement.get(parameters);
        },
        all(parameters) {
          look(text);
          return statement.all(parameters);
        },
        run(parameters) {
          look(text);
          return statement.run(parameters);
        },
      };
    },
  };
}

test('a schema that another process creates meanwhile is not created again', async () => {
  let winner: Promise<SqliteSessionStore> | undefined;
  const loser = new SqliteSessionStore({
    database: interrupted('BEGIN IMMEDIATE', () => {
      winner = SqliteSessionStore.open({ path, clock });
    }),
    clock,
  });
  const store = await winner;
  const created = await loser.create(newSession('a'));
  await expect(store?.load('a')).resolves.toEqual(created);
  await store?.close();
});

test('a creation of the schema that fails writes nothing', () => {
  const other = new DatabaseSync(path);
  const failing = interrupted('CREATE TABLE', () => {
    throw new TypeError('Interrupted');
  });
  expect(() => new SqliteSessionStore({ database: failing })).toThrow('Interrupted');
  other.exec('BEGIN EXCLUSIVE; ROLLBACK');
  expect(other.prepare('SELECT * FROM sqlite_schema').all()).toEqual([]);
  other.close();
});

const READ = 'SELECT CAST(session_id';

test('an id is free when its session is deleted while a create with the id runs', async () => {
  const happens = (): void => database.exec('DELETE FROM sessions');
  const store = new SqliteSessionStore({ database: interrupted(READ, happens), clock });
  const old = await store.create(newSession('a'));
  const anew = await store.create(newSession('a'));
  expect(anew.revision.incarnation).not.toBe(old.revision.incarnation);
  await expect(store.load('a')).resolves.toEqual(anew);
});

test('a save is refused with "not found" when the session is deleted before the diagnosis of the refusal', async () => {
  const happens = (): void => database.exec('DELETE FROM sessions');
  const store = new SqliteSessionStore({ database: interrupted(READ, happens), clock });
  const base = await store.create(newSession('a'));
  await store.save(base, { base });
  await expect(store.save(base, { base })).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
});

test('a delete returns false when another delete comes first', async () => {
  const happens = (): void => database.exec('DELETE FROM sessions');
  const store = new SqliteSessionStore({ database: interrupted(READ, happens), clock });
  const base = await store.create(newSession('a'));
  await store.save(base, { base });
  await expect(store.delete('a', { revision: base.revision })).resolves.toBe(false);
});

test('a session that is deleted during a read is read as it was before', async () => {
  database.exec('PRAGMA journal_mode = WAL');
  const other = new DatabaseSync(path);
  const happens = (): void => other.exec('DELETE FROM sessions');
  const store = new SqliteSessionStore({
    database: interrupted('SELECT content FROM session_values', happens),
    clock,
  });
  const created = await store.create(newSession('a'));
  await expect(store.load('a')).resolves.toEqual(created);
  await expect(store.load('a')).resolves.toBeUndefined();
  other.close();
});

describe('when another writer writes between the read and the write', () => {
  /** A store with session "a", to which another writer writes immediately before the store does. */
  async function overtaken(change: string): Promise<{ store: SqliteSessionStore; created: AgentSession }> {
    database.exec('PRAGMA journal_mode = WAL');
    const created = await new SqliteSessionStore({ database, clock }).create(newSession('a'));
    const other = new DatabaseSync(path);
    const happens = (): void => {
      const record = `json_set(record, '$.writes', 9, '$.token', 'other', ${change})`;
      other.exec(`UPDATE sessions SET record_name = '9.other.' || incarnation, record = ${record}`);
      other.close();
    };
    const store = new SqliteSessionStore({ database: interrupted('BEGIN IMMEDIATE', happens), clock });
    return { store, created };
  }

  test('an item is still enqueued', async () => {
    const { store } = await overtaken(`'$.epoch', 7`);
    await expect(store.enqueue('a', { id: 'item', content: 1 })).resolves.toBe(true);
    const { claim, inbox } = await store.claim('a', { workerId: 'worker', leaseSeconds: 1 });
    expect(claim.epoch).toBe(8);
    expect(inbox).toMatchObject([{ id: 'item' }]);
  });

  test('a save is refused because of the other claim', async () => {
    const lease = `json_object('workerId', 'other', 'until', ${clock.now() + 1_000})`;
    const { store, created } = await overtaken(`'$.lease', ${lease}`);
    const save = store.save(withFact(created, 'fact', 1), { base: created });
    await expect(save).rejects.toMatchObject({ code: 'SESSION_BUSY', workerId: 'other' });
    expect((await store.load('a'))?.state.metadata.get('fact')).toBeUndefined();
  });

  test('a delete of a revision does not delete the next revision', async () => {
    const { store, created } = await overtaken(`'$.info.version', 2`);
    const removal = store.delete('a', { revision: created.revision });
    await expect(removal).rejects.toMatchObject({ code: 'SESSION_CONFLICT', kind: 'stale' });
    await expect(store.exists('a')).resolves.toBe(true);
  });
});
