import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { SqliteSessionStore } from '@holdfast/store-sqlite';
import { describe, expect, test } from 'vitest';
import { newSession, testClock } from '@holdfast/conformance';
import { temporaryFolders } from './temporary-folders.ts';

const { newFile, newFolder, databaseFile } = temporaryFolders();
const clock = testClock();

function pragmas(path: string, ...names: string[]): unknown[] {
  const database = new DatabaseSync(path, { readOnly: true });
  const values = names.map((name) => Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0]);
  database.close();
  return values;
}

describe('open', () => {
  test('creates the file and its folder, with an application_id and a write-ahead log', async () => {
    const path = join(newFolder(), 'data', 'agents', 'sessions.db');
    const store = await SqliteSessionStore.open({ path, clock });
    await store.create(newSession('a'));
    await store.close();
    expect(readdirSync(dirname(path))).toEqual(['sessions.db']);
    expect(pragmas(path, 'application_id', 'user_version', 'journal_mode')).toEqual([0x486f6c64, 5, 'wal']);
  });

  test('finds the sessions of an earlier store', async () => {
    const path = newFile();
    const first = await SqliteSessionStore.open({ path, clock });
    const created = await first.create(newSession('a'));
    await first.close();
    const second = await SqliteSessionStore.open({ path, clock });
    await expect(second.load('a')).resolves.toEqual(created);
    await second.close();
  });

  test.each(['an empty file', 'an empty database'])('creates the schema in %s', async (what) => {
    const path = what === 'an empty file' ? newFile() : databaseFile('PRAGMA journal_mode = WAL; VACUUM');
    if (!existsSync(path)) writeFileSync(path, '');
    const store = await SqliteSessionStore.open({ path, clock });
    await store.create(newSession('a'));
    await expect(store.exists('a')).resolves.toBe(true);
    await store.close();
  });

  test('rolls back the unfinished transaction of a process that crashed without a write-ahead log', async () => {
    const path = newFile();
    const database = new DatabaseSync(path);
    const store = new SqliteSessionStore({ database, clock });
    const created = await store.create(newSession('a'));
    database.exec(`PRAGMA cache_size = 1; BEGIN; UPDATE sessions SET record = 'half done', head = 'half done';
      WITH RECURSIVE n (n) AS (SELECT 1 UNION SELECT n + 1 FROM n WHERE n < 500)
      INSERT INTO sessions (session_id, record_name, incarnation, status, agent_name, created_at, last_active_at, record, head)
      SELECT 'b' || n, '1.t.i', 'i', 'active', 'x', n, n, 'half done', 'half done' FROM n`);
    const crashed = newFile();
    for (const end of ['', '-journal']) writeFileSync(`${crashed}${end}`, readFileSync(`${path}${end}`));
    database.close();
    const opened = await SqliteSessionStore.open({ path: crashed, clock });
    await expect(opened.load('a')).resolves.toEqual(created);
    await expect(opened.list()).resolves.toMatchObject({ sessions: [{ sessionId: 'a' }] });
    await opened.close();
  });

  test('two stores of one process share a file', async () => {
    const path = newFile();
    const [left, right] = await Promise.all([
      SqliteSessionStore.open({ path, clock }),
      SqliteSessionStore.open({ path, clock }),
    ]);
    const created = await left.create(newSession('a'));
    await expect(right.load('a')).resolves.toEqual(created);
    await left.close();
    const saved = await right.save(created);
    await expect(right.load('a')).resolves.toEqual(saved);
    await right.close();
  });

  test.each([-1, Number.NaN, Number.POSITIVE_INFINITY])(
    'refuses a busy timeout of %s',
    async (busyTimeoutSeconds) => {
      await expect(SqliteSessionStore.open({ path: ':memory:', busyTimeoutSeconds })).rejects.toThrow(
        expect.objectContaining({ code: 'ARGUMENT_INVALID' }),
      );
    },
  );

  test('refuses an invalid expiry, and leaves no file open', async () => {
    const path = newFile();
    const expiry = { afterSeconds: 0 };
    const misuse = { code: 'ARGUMENT_INVALID', message: expect.stringContaining('expiry') };
    await expect(SqliteSessionStore.open({ path, expiry })).rejects.toMatchObject(misuse);
    // The last connection deletes the write-ahead log when it closes.
    expect(readdirSync(dirname(path))).toEqual(['sessions.db']);
  });

  test('passes the expiry to the store', async () => {
    const own = testClock();
    const store = await SqliteSessionStore.open({
      path: newFile(),
      clock: own,
      expiry: { afterSeconds: 60 },
    });
    await store.create(newSession('a'));
    own.time += 60_000;
    await expect(store.exists('a')).resolves.toBe(false);
    await expect(store.prune()).resolves.toBe(1);
    await store.close();
  });

  test('refuses an empty path', async () => {
    await expect(SqliteSessionStore.open({ path: '' })).rejects.toThrow(
      expect.objectContaining({ code: 'ARGUMENT_INVALID' }),
    );
  });

  test('refuses a path that names a folder, or that leads through a file', async () => {
    const folder = newFolder();
    await expect(SqliteSessionStore.open({ path: folder })).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      isAmbiguous: false,
      message: expect.stringContaining(folder),
    });
    const file = newFile();
    writeFileSync(file, 'text');
    const path = join(file, 'sessions.db');
    await expect(SqliteSessionStore.open({ path })).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining(path),
    });
    expect(readFileSync(file, 'utf8')).toBe('text');
  });
});

describe('a database that was passed in', () => {
  test('keeps its settings and stays open', async () => {
    const path = newFile();
    const database = new DatabaseSync(path);
    const store = new SqliteSessionStore({ database, clock });
    const created = await store.create(newSession('a'));
    await store.close();
    await expect(store.load('a')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(database.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'delete' });
    const again = new SqliteSessionStore({ database, clock });
    await expect(again.load('a')).resolves.toEqual(created);
    database.close();
  });

  test('is not written to within a transaction of the application, which stays open', async () => {
    const database = new DatabaseSync(':memory:');
    const store = new SqliteSessionStore({ database, clock });
    const created = await store.create(newSession('a'));
    database.exec(`BEGIN; UPDATE sessions SET status = 'failed'`);
    const refusal = { code: 'STORE_UNAVAILABLE', message: expect.stringContaining('within a transaction') };
    await expect(store.save(created)).rejects.toMatchObject(refusal);
    await expect(store.load('a')).rejects.toMatchObject(refusal);
    expect(database.prepare('SELECT status FROM sessions').get()).toEqual({ status: 'failed' });
    database.exec('ROLLBACK');
    await expect(store.save(created)).resolves.toHaveProperty('version', 2);
    database.close();
  });

  test('of another application is refused by its name, and stays unchanged', () => {
    const path = newFile();
    const database = new DatabaseSync(path);
    database.exec('CREATE TABLE notes (note TEXT)');
    const refusal = { code: 'STATE_FORMAT', message: expect.stringContaining(path) };
    expect(() => new SqliteSessionStore({ database })).toThrow(expect.objectContaining(refusal));
    expect(database.prepare('SELECT name FROM sqlite_schema').all()).toEqual([{ name: 'notes' }]);
    database.close();
  });
});

describe('close', () => {
  test('may be called twice, and later calls of the store are refused', async () => {
    const store = await SqliteSessionStore.open({ path: newFile(), clock });
    const created = await store.create(newSession('a'));
    await store.close();
    await store.close();
    const refusal = {
      code: 'STORE_UNAVAILABLE',
      isAmbiguous: false,
      message: expect.stringContaining('closed'),
    };
    await expect(store.load('a')).rejects.toMatchObject(refusal);
    await expect(store.exists('a')).rejects.toMatchObject(refusal);
    await expect(store.create(newSession('b'))).rejects.toMatchObject(refusal);
    await expect(store.save(created)).rejects.toMatchObject(refusal);
    await expect(store.delete('a')).rejects.toMatchObject(refusal);
    await expect(store.list()).rejects.toMatchObject(refusal);
    await expect(store.due()).rejects.toMatchObject(refusal);
    await expect(store.prune()).rejects.toMatchObject(refusal);
    await expect(store.claim('a', { workerId: 'worker', leaseSeconds: 1 })).rejects.toMatchObject(refusal);
    await expect(store.enqueue('a', { id: 'item', content: 1 })).rejects.toMatchObject(refusal);
  });
});

test('a path is not read as a URI, and is relative to the working folder', async () => {
  const folder = newFolder();
  mkdirSync(join(folder, 'x'));
  const path = join(folder, 'x', '..', 'file:sessions.db?mode=memory');
  const store = await SqliteSessionStore.open({ path, clock });
  await store.close();
  expect(readdirSync(folder).toSorted()).toEqual(['file:sessions.db?mode=memory', 'x']);
});
