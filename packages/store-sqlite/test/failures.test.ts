import { closeSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { StoreUnavailableError } from '@holdfast/core';
import { SqliteSessionStore, type SqliteDatabase, type SqliteParameters } from '@holdfast/store-sqlite';
import { afterEach, describe, expect, test } from 'vitest';
import { newSession, testClock, withFact } from '@holdfast/conformance';
import { runThroughOutage } from '@holdfast/conformance/test';
import { temporaryFolders } from './temporary-folders.ts';

const { newFile } = temporaryFolders();
const clock = testClock();
const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const thing of opened.splice(0).toReversed()) await thing.close();
});

function connect(path: string, options?: { readonly readOnly: boolean }): DatabaseSync {
  const database = new DatabaseSync(path, { ...options });
  opened.push(database);
  return database;
}

async function openStore(path: string, busyTimeoutSeconds = 0): Promise<SqliteSessionStore> {
  const store = await SqliteSessionStore.open({ path, clock, busyTimeoutSeconds });
  opened.push(store);
  return store;
}

describe('a file', () => {
  test('that was replaced while it was open is refused, and is used again when it is back', async () => {
    const [path, aside] = [newFile(), newFile()];
    const store = await openStore(path);
    const created = await store.create(newSession('a'));
    for (const name of ['', '-wal', '-shm']) renameSync(path + name, aside + name);
    const refusal = {
      code: 'STORE_UNAVAILABLE',
      isAmbiguous: false,
      message: expect.stringContaining('replaced'),
    };
    await expect(store.save(created)).rejects.toMatchObject(refusal);
    const other = await openStore(path);
    await other.create(newSession('a'));
    await expect(store.claim('a', { workerId: 'Ada', leaseSeconds: 60 })).rejects.toMatchObject(refusal);
    await expect(store.load('a')).rejects.toMatchObject(refusal);
    await other.close();
    renameSync(aside, path);
    await expect(store.load('a')).resolves.toEqual(created);
    await expect(store.create(newSession('b'))).resolves.toHaveProperty('version', 1);
  });
});

test('a stored whole number that would be rounded is refused, and stays as it is', async () => {
  const path = newFile();
  const store = await openStore(path);
  await store.create(withFact(newSession('a'), 'order', 4_711));
  const database = connect(path);
  database.exec(`UPDATE session_values SET content = replace(content, '4711', '12345678901234567890')`);
  await expect((await openStore(path)).load('a')).rejects.toMatchObject({
    code: 'STATE_FORMAT',
    message: expect.stringContaining('found 12345678901234567890'),
  });
  const rows = database.prepare('SELECT content FROM session_values').all();
  expect(rows.some(({ content }) => String(content).includes('12345678901234567890'))).toBe(true);
});

describe('a locked database', () => {
  test('refuses writes unambiguously, and accepts them after the lock is released', async () => {
    const path = newFile();
    const store = await openStore(path, 0.02);
    const created = await store.create(newSession('a'));
    const other = connect(path);
    other.exec('BEGIN IMMEDIATE');
    const refusal = { code: 'STORE_UNAVAILABLE', isAmbiguous: false, message: expect.stringContaining(path) };
    await expect(store.save(created)).rejects.toMatchObject(refusal);
    await expect(store.create(newSession('b'))).rejects.toMatchObject(refusal);
    await expect(store.delete('a')).rejects.toMatchObject(refusal);
    await expect(store.load('a')).resolves.toEqual(created);
    await expect(store.list()).resolves.toMatchObject({ sessions: [{ sessionId: 'a' }] });
    other.exec('ROLLBACK');
    await expect(store.save(created)).resolves.toHaveProperty('version', 2);
  });

  test('refuses to be opened while another connection creates the schema', async () => {
    const path = newFile();
    connect(path).exec('BEGIN EXCLUSIVE');
    await expect(openStore(path)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', isAmbiguous: false });
  });

  test('refuses to be opened while another connection reads, before the write-ahead log exists', async () => {
    const path = newFile();
    const other = connect(path);
    await new SqliteSessionStore({ database: other, clock }).exists('a');
    other.exec('BEGIN; SELECT * FROM sessions');
    await expect(openStore(path)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', isAmbiguous: false });
    other.exec('COMMIT');
    await expect((await openStore(path)).exists('a')).resolves.toBe(false);
  });
});

test('a full database refuses a write and keeps its sessions', async () => {
  const database = connect(newFile());
  const store = new SqliteSessionStore({ database, clock });
  const created = await store.create(newSession('a'));
  const { page_count: pages } = database.prepare('PRAGMA page_count').get() ?? {};
  database.exec(`PRAGMA max_page_count = ${Number(pages) + 4}`);
  const state = created.state.withMetadata('text', 'x'.repeat(100_000), created.updatedAt);
  await expect(store.save(created.withState(state))).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
    isAmbiguous: false,
    message: expect.stringContaining('no space left'),
  });
  await expect(store.load('a')).resolves.toEqual(created);
  database.exec('PRAGMA max_page_count = 1000');
  await expect(store.save(created.withState(state), { base: created })).resolves.toHaveProperty('version', 2);
});

test('the outcome of a call is saved as soon as a full disk has space again', async () => {
  const database = connect(newFile());
  const store = new SqliteSessionStore({ database });
  const begin = (): void => {
    const { page_count: pages } = database.prepare('PRAGMA page_count').get() ?? {};
    database.exec(`PRAGMA max_page_count = ${Number(pages) + 4}`);
  };
  const end = (): void => database.exec('PRAGMA max_page_count = 1000');
  const { session, starts, pauses } = await runThroughOutage(store, { begin, end }, 'x'.repeat(100_000));
  expect([starts, pauses, session.state.finalResponse]).toEqual([1, 6, 'Paid.']);
  const [execution] = session.state.steps[0]?.toolExecutions ?? [];
  expect([execution?.outcome?.type, execution?.attempt]).toEqual(['succeeded', 1]);
});

test('a database that is open for reading refuses writes', async () => {
  const path = newFile();
  const created = await (await openStore(path)).create(newSession('a'));
  const store = new SqliteSessionStore({ database: connect(path, { readOnly: true }), clock });
  await expect(store.load('a')).resolves.toEqual(created);
  await expect(store.save(created)).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
    isAmbiguous: false,
    message: expect.stringContaining('is read-only'),
  });
});

test('a database that the application has closed is unavailable', async () => {
  const database = new DatabaseSync(':memory:');
  const store = new SqliteSessionStore({ database, clock });
  await store.create(newSession('a'));
  database.close();
  await expect(store.load('a')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  await expect(store.exists('a')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
});

test('a damaged file is reported as damaged and not written to', async () => {
  const path = newFile();
  const page = 16_384; // the first page has the whole schema
  const empty = new DatabaseSync(path);
  empty.exec(`PRAGMA page_size = ${page}; CREATE TABLE emptied (a); DROP TABLE emptied`);
  empty.close();
  const first = await SqliteSessionStore.open({ path, clock });
  for (let index = 0; index < 50; index++) await first.create(newSession(`session ${index}`));
  await first.close();
  const size = readFileSync(path).length;
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(size - page, 0xa5), 0, size - page, page);
  closeSync(file);
  const damaged = readFileSync(path);
  const store = await openStore(path);
  const refusal = { code: 'STATE_FORMAT', message: expect.stringContaining(path) };
  await expect(store.load('session 7')).rejects.toMatchObject(refusal);
  await expect(store.create(newSession('new'))).rejects.toMatchObject(refusal);
  await expect(store.list()).rejects.toMatchObject(refusal);
  await expect(store.due()).rejects.toMatchObject(refusal);
  await store.close();
  expect(readFileSync(path)).toEqual(damaged);
});

/**
 * A database with faults. From a call of `fail` until `heal`, its statements throw an SQLite error; with `only`, the
 * statements that begin with this text do.
 */
function faulty(): {
  readonly database: SqliteDatabase;
  readonly fail: (errcode: number, errstr: string, only?: string) => void;
  readonly heal: () => void;
} {
  const inner = connect(':memory:');
  let fault: Error | undefined;
  let failing = '';
  return {
    heal() {
      fault = undefined;
    },
    fail(errcode, errstr, only = '') {
      failing = only;
      fault = Object.assign(new Error(errstr), { code: 'ERR_SQLITE_ERROR', errcode, errstr });
    },
    database: {
      exec: (sql) => inner.exec(sql),
      prepare(sql) {
        const statement = inner.prepare(sql);
        const sound = <T>(act: (parameters: SqliteParameters) => T) => {
          return (parameters: SqliteParameters): T => {
            if (fault && sql.startsWith(failing)) throw fault;
            return act(parameters);
          };
        };
        return {
          get: sound((parameters) => statement.get(parameters)),
          all: sound((parameters) => statement.all(parameters)),
          run: sound((parameters) => statement.run(parameters)),
        };
      },
    },
  };
}

describe('SQLite errors that a test cannot cause', () => {
  test.each([
    { errcode: 10 + (4 << 8), errstr: 'disk I/O error', write: true, read: false },
    { errcode: 7, errstr: 'out of memory', write: false, read: false },
    { errcode: 14, errstr: 'unable to open database file', write: false, read: false },
    { errcode: 6, errstr: 'database table is locked', write: false, read: false },
    { errcode: 1, errstr: 'no such table: sessions', write: false, read: false },
  ])('$errstr: a write is ambiguous: $write', async ({ errcode, errstr, write, read }) => {
    const { database, fail } = faulty();
    const store = new SqliteSessionStore({ database, clock });
    const created = await store.create(newSession('a'));
    fail(errcode, errstr);
    const refusal = {
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining(`SQLite error ${errcode}: ${errstr}`),
    };
    const save = store.save(created, { base: created });
    await expect(save).rejects.toMatchObject({ ...refusal, isAmbiguous: write });
    await expect(store.load('a')).rejects.toMatchObject({ ...refusal, isAmbiguous: read });
    const error = await store.list().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(StoreUnavailableError);
    expect(error).toHaveProperty('cause.errcode', errcode);
  });

  test.each(['UPDATE sessions', 'INSERT INTO session_values', 'INSERT INTO session_lists', 'COMMIT'])(
    'a save that fails at %s changes nothing, and the next save succeeds',
    async (statement) => {
      const { database, fail, heal } = faulty();
      const store = new SqliteSessionStore({ database, clock });
      const created = await store.create(newSession('a'));
      const { state } = withFact(created, 'fact', 1);
      const next = created.withState(state.withUserMessage('Hello', undefined, clock.now()));
      fail(13, 'database or disk is full', statement);
      await expect(store.save(next, { base: created })).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
      heal();
      await expect(store.load('a')).resolves.toEqual(created);
      const saved = await store.save(next, { base: created });
      await expect(store.load('a')).resolves.toEqual(saved);
    },
  );

  test('a value above the limit is refused with its size', async () => {
    const { database, fail } = faulty();
    const store = new SqliteSessionStore({ database, clock });
    const created = await store.create(newSession('a'));
    fail(18, 'string or blob too big', 'INSERT');
    const text = 'ø'.repeat(10_000);
    const message = created.state.withUserMessage(text, undefined, clock.now());
    const value = created.state.withMetadata('fact', text, clock.now());
    for (const state of [message, value]) {
      await expect(store.save(created.withState(state), { base: created })).rejects.toMatchObject({
        code: 'SESSION_TOO_LARGE',
        data: { sessionId: 'a', bytes: expect.toSatisfy((bytes) => bytes > 20_000 && bytes < 20_300) },
      });
    }
    await expect(store.enqueue('a', { id: 'item', content: text })).rejects.toMatchObject({
      code: 'SESSION_TOO_LARGE',
      data: { sessionId: 'a', limit: 1_000_000_000 },
    });
    await expect(store.load('a')).resolves.toEqual(created);
  });

  test('an error of another origin is thrown unchanged', async () => {
    const inner = connect(':memory:');
    const error = new TypeError('Not of SQLite');
    const prepare: SqliteDatabase['prepare'] = (sql) => {
      if (sql.startsWith('PRAGMA') || sql.includes('sqlite_schema')) return inner.prepare(sql);
      throw error;
    };
    const store = new SqliteSessionStore({ database: { exec: (sql) => inner.exec(sql), prepare }, clock });
    await expect(store.load('a')).rejects.toBe(error);
  });
});

test('an invalid call rejects and does not throw', async () => {
  const store = await openStore(newFile());
  const created = await store.create(newSession('a'));
  for (const call of [() => store.create(created), () => store.list({ limit: 0 })]) {
    let promise: Promise<unknown> | undefined;
    expect(() => {
      promise = call();
    }).not.toThrow();
    await expect(promise).rejects.toThrow(expect.objectContaining({ code: 'ARGUMENT_INVALID' }));
  }
});
