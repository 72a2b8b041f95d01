import { DatabaseSync } from 'node:sqlite';
import type { AgentSession } from '@holdfast/core';
import { SqliteSessionStore, type SqliteDatabase } from '@holdfast/store-sqlite';
import { newSession, testClock, withFact } from '@holdfast/conformance';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { notingDatabase, type AskedSql } from './noting-database.ts';
import { temporaryFolders } from './temporary-folders.ts';

const { newFile } = temporaryFolders();
const clock = testClock();
const asked: AskedSql[] = [];
let path: string;
let database: DatabaseSync;
let store: SqliteSessionStore;
/** Called before each statement, with its SQL and parameters. It can throw, and then the statement is not executed. */
let onStatement: (asked: AskedSql) => void;
/** The time that `performance.now` returns. */
let milliseconds: number;
/** Sessions "a", "b" and "c". */
let sessions: AgentSession[];

beforeEach(async () => {
  path = newFile();
  database = new DatabaseSync(path);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA busy_timeout = 0');
  milliseconds = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => milliseconds);
  onStatement = () => undefined;
  store = new SqliteSessionStore({ database: watched(), clock });
  sessions = await Promise.all(['a', 'b', 'c'].map((id) => store.create(newSession(id))));
  asked.length = 0;
});

afterEach(() => {
  vi.restoreAllMocks();
  database.close();
});

function watched(): SqliteDatabase {
  const noting = notingDatabase(database, asked);
  return {
    exec: (sql) => noting.exec(sql),
    prepare(sql) {
      const statement = noting.prepare(sql);
      const watch =
        <P, T>(act: (parameters: P) => T) =>
        (parameters: P): T => {
          onStatement({ sql, parameters: parameters as AskedSql['parameters'] });
          return act(parameters);
        };
      return {
        get: watch((parameters) => statement.get(parameters)),
        all: watch((parameters) => statement.all(parameters)),
        run: watch((parameters) => statement.run(parameters)),
      };
    },
  };
}

const saveOf = (base: AgentSession | undefined, fact: string | number = 1): Promise<AgentSession> => {
  if (base === undefined) throw new TypeError('No such session.');
  return store.save(withFact(base, 'fact', fact), { base });
};

/** Saves each session in one iteration of the event loop. */
const saveEach = (): Promise<PromiseSettledResult<AgentSession>[]> =>
  Promise.allSettled(sessions.map((base) => saveOf(base)));

/** Runs pending promise callbacks, within this iteration of the event loop. */
async function microtasks(count = 20): Promise<void> {
  for (let step = 0; step < count; step++) await Promise.resolve();
}

/** The number of writes in each transaction. */
function batches(): number[] {
  const sizes: number[] = [];
  for (const { sql } of asked) {
    if (sql === 'BEGIN IMMEDIATE') sizes.push(0);
    if (sql.startsWith('SAVEPOINT')) sizes[sizes.length - 1] = (sizes.at(-1) ?? 0) + 1;
  }
  return sizes;
}

/** The versions and facts of the sessions, as another process reads them. */
async function kept(): Promise<unknown[]> {
  const other = await SqliteSessionStore.open({ path, clock });
  const loaded = await Promise.all(['a', 'b', 'c'].map((id) => other.load(id)));
  await other.close();
  return loaded.map((session) => [session?.version, session?.state.metadata.get('fact')]);
}

const BEFORE = [1, undefined];
const SAVED = [2, 1];

/** An error of `node:sqlite`. */
const sqliteError = (errcode: number, errstr: string): Error =>
  Object.assign(new Error(errstr), { code: 'ERR_SQLITE_ERROR', errcode, errstr });

const isWriteOfB = ({ sql, parameters }: AskedSql): boolean =>
  sql.startsWith('INSERT INTO session_values') && parameters['content'] === '{"fact":"b"}';

describe('writes of one iteration of the event loop', () => {
  test('are committed in one transaction', async () => {
    const results = await saveEach();
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled']);
    expect(batches()).toEqual([3]);
    expect(asked.filter(({ sql }) => sql === 'COMMIT')).toHaveLength(1);
    await expect(kept()).resolves.toEqual([SAVED, SAVED, SAVED]);
  });

  test('are committed in several iterations when they take long', async () => {
    onStatement = ({ sql }) => {
      if (sql.startsWith('UPDATE')) milliseconds += 3;
    };
    let turns = 0;
    const count = (): void => {
      turns++;
      handle = setImmediate(count);
    };
    let handle = setImmediate(count);
    await saveEach();
    clearImmediate(handle);
    expect(batches()).toEqual([2, 1]);
    expect(turns).toBeGreaterThan(0);
    await expect(kept()).resolves.toEqual([SAVED, SAVED, SAVED]);
  });

  test('to one session are executed in order: the second reads the result of the first', async () => {
    const [a] = sessions;
    const [first, second] = await Promise.allSettled([saveOf(a, 'first'), saveOf(a, 'second')]);
    expect(batches()[0]).toBe(2);
    expect(first).toMatchObject({ status: 'fulfilled', value: { version: 2 } });
    expect(second).toMatchObject({
      status: 'rejected',
      reason: { code: 'SESSION_CONFLICT', kind: 'stale', actual: 2 },
    });
    await expect(kept()).resolves.toEqual([[2, 'first'], BEFORE, BEFORE]);
  });

  test('to one inbox are all saved, each at a position of its own', async () => {
    const ids = ['i', 'j', 'k'];
    await expect(Promise.all(ids.map((id) => store.enqueue('a', { id, content: id })))).resolves.toEqual([
      true,
      true,
      true,
    ]);
    const { inbox } = await store.claim('a', { workerId: 'worker', leaseSeconds: 1 });
    expect(inbox.map(({ id, position }) => [id, position])).toEqual(ids.map((id, index) => [id, index]));
  });

  test('of two stores on one file are all committed', async () => {
    const other = await SqliteSessionStore.open({ path, clock });
    const turns = Array.from({ length: 10 }, async (_, index) => {
      const writer = index % 2 === 0 ? store : other;
      return writer.enqueue('a', { id: `item ${index}`, content: index });
    });
    await expect(Promise.all(turns)).resolves.toEqual(turns.map(() => true));
    const { inbox } = await other.claim('a', { workerId: 'worker', leaseSeconds: 1 });
    expect(new Set(inbox.map(({ content }) => content))).toEqual(new Set(turns.map((_, index) => index)));
    await other.close();
  });
});

describe('a write that fails', () => {
  test('because another writer was first does not affect the other writes of its batch', async () => {
    const [a, b, c] = sessions;
    await saveOf(b, 'other');
    asked.length = 0;
    const results = await Promise.allSettled([saveOf(a), saveOf(b), saveOf(c)]);
    expect(batches()[0]).toBe(3);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(results[1]).toMatchObject({ reason: { code: 'SESSION_CONFLICT', kind: 'stale' } });
    await expect(kept()).resolves.toEqual([SAVED, [2, 'other'], SAVED]);
  });

  test('because its item is in the inbox already is rolled back alone', async () => {
    const [a, , c] = sessions;
    await store.enqueue('b', { id: 'item', content: 1 });
    const row = (): unknown => database.prepare(`SELECT * FROM sessions WHERE session_id = 'b'`).get();
    const before = row();
    asked.length = 0;
    const repeated = store.enqueue('b', { id: 'item', content: 2 });
    await microtasks();
    const results = await Promise.all([saveOf(a), repeated, saveOf(c)]);
    expect(batches()).toEqual([3]);
    expect(results[1]).toBe(false);
    expect(row()).toEqual(before);
    expect(database.prepare('SELECT position, content FROM session_inbox').all()).toHaveLength(1);
    await expect(kept()).resolves.toEqual([SAVED, BEFORE, SAVED]);
  });

  test.each([
    { errcode: 18, errstr: 'string or blob too big', code: 'SESSION_TOO_LARGE' },
    { errcode: 19, errstr: 'constraint failed', code: 'STORE_UNAVAILABLE' },
    { errcode: 13, errstr: 'database or disk is full', code: 'STORE_UNAVAILABLE' },
  ])('with "$errstr" is rolled back alone', async ({ errcode, errstr, code }) => {
    onStatement = (statement) => {
      if (isWriteOfB(statement)) throw sqliteError(errcode, errstr);
    };
    const [a, b, c] = sessions;
    const results = await Promise.allSettled([saveOf(a), saveOf(b, 'b'), saveOf(c)]);
    expect(batches()).toEqual([3]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(results[1]).toHaveProperty('reason.code', code);
    expect(results[1]).not.toHaveProperty('reason.isAmbiguous', true);
    await expect(kept()).resolves.toEqual([SAVED, BEFORE, SAVED]);
  });

  test('because the disk is full is rolled back alone', async () => {
    const [a, b, c] = sessions;
    const { page_count: pages } = database.prepare('PRAGMA page_count').get() ?? {};
    database.exec(`PRAGMA max_page_count = ${Number(pages) + 4}`);
    const results = await Promise.allSettled([saveOf(a), saveOf(b, 'x'.repeat(100_000)), saveOf(c)]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(results[1]).toMatchObject({ reason: { code: 'STORE_UNAVAILABLE', isAmbiguous: false } });
    await expect(kept()).resolves.toEqual([SAVED, BEFORE, SAVED]);
  });

  test('and makes SQLite roll back the whole batch does not affect the other writes', async () => {
    onStatement = (statement) => {
      if (!isWriteOfB(statement)) return;
      database.exec('ROLLBACK');
      throw sqliteError(13, 'database or disk is full');
    };
    const [a, b, c] = sessions;
    const results = await Promise.allSettled([saveOf(a), saveOf(b, 'b'), saveOf(c)]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(results[1]).toMatchObject({ reason: { code: 'STORE_UNAVAILABLE', isAmbiguous: false } });
    database.exec('BEGIN; ROLLBACK');
    await expect(kept()).resolves.toEqual([SAVED, BEFORE, SAVED]);
  });
});

describe('a batch', () => {
  /** The rejections of saves of each session, and the sessions after them. */
  async function refused(): Promise<{ errors: unknown[]; content: unknown[] }> {
    const results = await saveEach();
    const errors = results.map((result): unknown => (result.status === 'rejected' ? result.reason : 'done'));
    onStatement = () => undefined;
    return { errors, content: await kept() };
  }

  const three = (isAmbiguous: boolean): unknown[] =>
    Array.from({ length: 3 }, () => expect.objectContaining({ code: 'STORE_UNAVAILABLE', isAmbiguous }));

  test('that cannot begin because of another writer is refused as a whole, after one wait', async () => {
    const other = new DatabaseSync(path);
    other.exec('BEGIN IMMEDIATE');
    const { errors, content } = await refused();
    expect(errors).toEqual(three(false));
    expect(content).toEqual([BEFORE, BEFORE, BEFORE]);
    expect(asked.map(({ sql }) => sql)).toEqual(['BEGIN IMMEDIATE']);
    other.exec('ROLLBACK');
    other.close();
    await saveEach();
    await expect(kept()).resolves.toEqual([SAVED, SAVED, SAVED]);
  });

  test.each([
    { errcode: 10 + (4 << 8), errstr: 'disk I/O error', isAmbiguous: true },
    { errcode: 13, errstr: 'database or disk is full', isAmbiguous: true },
    { errcode: 5, errstr: 'database is locked', isAmbiguous: false },
  ])('whose commit fails with "$errstr" is ambiguous for each write: $isAmbiguous', async (fault) => {
    onStatement = ({ sql }) => {
      if (sql === 'COMMIT') throw sqliteError(fault.errcode, fault.errstr);
    };
    const { errors, content } = await refused();
    expect(errors).toEqual(three(fault.isAmbiguous));
    expect(content).toEqual([BEFORE, BEFORE, BEFORE]);
    const results = await saveEach();
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled']);
  });

  test('that was committed although its commit threw is recognised by its operation ids', async () => {
    onStatement = ({ sql }) => {
      if (sql !== 'COMMIT') return;
      database.exec('COMMIT');
      throw sqliteError(10 + (4 << 8), 'disk I/O error');
    };
    const save = (): Promise<PromiseSettledResult<AgentSession>[]> =>
      Promise.allSettled(
        sessions.map((base) => store.save(withFact(base, 'fact', 1), { base, operationId: 'op' })),
      );
    const first = await save();
    expect(first.map((result) => (result.status === 'rejected' ? result.reason : 'done'))).toEqual(
      three(true),
    );
    onStatement = () => undefined;
    const second = await save();
    expect(second).toMatchObject(sessions.map(() => ({ status: 'fulfilled', value: { version: 2 } })));
    await expect(kept()).resolves.toEqual([SAVED, SAVED, SAVED]);
  });

  test('in a transaction of the application is refused, and the transaction stays open', async () => {
    database.exec(`BEGIN; UPDATE sessions SET status = 'failed'`);
    const results = await saveEach();
    expect(results).toMatchObject(three(false).map((reason) => ({ status: 'rejected', reason })));
    expect(database.prepare('SELECT DISTINCT status FROM sessions').all()).toEqual([{ status: 'failed' }]);
    database.exec('ROLLBACK');
    await saveEach();
    await expect(kept()).resolves.toEqual([SAVED, SAVED, SAVED]);
  });

  test('whose database the application has closed is refused', async () => {
    const saves = saveEach();
    await microtasks();
    database.close();
    expect(await saves).toMatchObject(three(false).map((reason) => ({ status: 'rejected', reason })));
    database = new DatabaseSync(path);
    await expect(kept()).resolves.toEqual([BEFORE, BEFORE, BEFORE]);
  });
});

describe('a read while writes wait', () => {
  test('returns their results', async () => {
    const saves = saveEach();
    await microtasks();
    await expect(store.load('c')).resolves.toHaveProperty('version', 2);
    await saves;
  });

  test('never returns uncommitted changes', async () => {
    onStatement = ({ sql }) => {
      if (sql === 'COMMIT') throw sqliteError(13, 'database or disk is full');
    };
    const saves = saveEach();
    await microtasks();
    await expect(store.exists('a')).resolves.toBe(true);
    onStatement = () => undefined;
    await expect(store.load('a')).resolves.toHaveProperty('version', 1);
    expect((await saves).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  });

  test('does not block them: a loop that polls for a write ends', async () => {
    const saves = saveEach();
    await microtasks();
    let reads = 1;
    while ((await store.load('a'))?.version !== 2 && reads < 1_000) reads++;
    expect(reads).toBeLessThan(1_000);
    await saves;
  });
});

test('close commits the waiting writes, and later writes are refused unambiguously', async () => {
  const statuses = new Set<string>();
  const refusals: unknown[] = [];
  for (let steps = 0; steps < 20; steps++) {
    const own = await SqliteSessionStore.open({ path, clock });
    const base = await own.load('a');
    if (base === undefined) throw new Error('The session is gone.');
    const result = Promise.allSettled([own.save(withFact(base, 'fact', steps), { base })]);
    await microtasks(steps);
    await own.close();
    const [saved] = await result;
    statuses.add(saved.status);
    if (saved.status === 'rejected') refusals.push(saved.reason);
    const isSaved = saved.status === 'fulfilled';
    const [found] = await kept();
    expect(found).toEqual(
      isSaved ? [base.version + 1, steps] : [base.version, base.state.metadata.get('fact')],
    );
  }
  expect(statuses).toEqual(new Set(['fulfilled', 'rejected']));
  for (const refusal of refusals) {
    expect(refusal).toMatchObject({ code: 'STORE_UNAVAILABLE', isAmbiguous: false });
  }
});
