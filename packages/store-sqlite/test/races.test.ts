import { DatabaseSync } from 'node:sqlite';
import { SqliteSessionStore } from '@holdfast/store-sqlite';
import type { SqliteDatabase } from '@holdfast/store-sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { newSession, testClock } from '@holdfast/conformance';
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

/** The database, with something that happens just before the first time a piece of SQL is carried out. */
function interrupted(sql: string, happens: () => void): SqliteDatabase {
  let isDue = true;
  const look = (text: string): void => {
    if (!isDue || !text.startsWith(sql)) return;
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
        all: (parameters) => statement.all(parameters),
        run: (parameters) => statement.run(parameters),
      };
    },
  };
}

test('a schema that another process makes meanwhile is not made again', async () => {
  let winner: Promise<SqliteSessionStore> | undefined;
  const loser = await SqliteSessionStore.from(
    interrupted('BEGIN IMMEDIATE', () => {
      winner = SqliteSessionStore.open({ path, clock });
    }),
    { clock },
  );
  const store = await winner;
  const created = await loser.create(newSession('a'));
  await expect(store?.load('a')).resolves.toEqual(created);
  await store?.close();
});

test('a migration that fails leaves nothing behind', async () => {
  const other = new DatabaseSync(path);
  const failing = interrupted('CREATE TABLE', () => {
    throw new TypeError('Interrupted');
  });
  await expect(SqliteSessionStore.from(failing)).rejects.toThrow('Interrupted');
  other.exec('BEGIN EXCLUSIVE; ROLLBACK');
  expect(other.prepare('SELECT * FROM sqlite_schema').all()).toEqual([]);
  other.close();
});

test('an id whose session is deleted while another is created with it is free', async () => {
  const happens = (): void => database.exec('DELETE FROM sessions');
  const store = await SqliteSessionStore.from(interrupted('SELECT incarnation', happens), { clock });
  const old = await store.create(newSession('a'));
  const anew = await store.create(newSession('a'));
  expect(anew.revision.incarnation).not.toBe(old.revision.incarnation);
  await expect(store.load('a')).resolves.toEqual(anew);
});

test('a session that is deleted between a refused save and its diagnosis is not found', async () => {
  const happens = (): void => database.exec('DELETE FROM sessions');
  const store = await SqliteSessionStore.from(interrupted('SELECT incarnation', happens), { clock });
  const base = await store.create(newSession('a'));
  await store.save(base);
  await expect(store.save(base)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
});

test('a session that is deleted between a refused delete and its diagnosis was not there', async () => {
  const happens = (): void => database.exec('DELETE FROM sessions');
  const store = await SqliteSessionStore.from(interrupted('SELECT incarnation', happens), { clock });
  const base = await store.create(newSession('a'));
  await store.save(base);
  await expect(store.delete('a', { revision: base.revision })).resolves.toBe(false);
});
