import { DatabaseSync } from 'node:sqlite';
import type { SessionQuery } from '@holdfast/core';
import { SqliteSessionStore } from '@holdfast/store-sqlite';
import type { SqliteDatabase, SqliteParameters } from '@holdfast/store-sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { newSession, testClock } from '@holdfast/conformance';

let database: DatabaseSync;
let asked: { readonly sql: string; readonly parameters: SqliteParameters }[];
let store: SqliteSessionStore;

/** The database, noting down what it is asked for. */
function noting(): SqliteDatabase {
  return {
    exec: (sql) => database.exec(sql),
    prepare(sql) {
      const statement = database.prepare(sql);
      const note = (parameters: SqliteParameters): SqliteParameters => {
        asked.push({ sql, parameters });
        return parameters;
      };
      return {
        get: (parameters) => statement.get(note(parameters)),
        all: (parameters) => statement.all(note(parameters)),
        run: (parameters) => statement.run(note(parameters)),
      };
    },
  };
}

beforeEach(async () => {
  asked = [];
  database = new DatabaseSync(':memory:');
  store = await SqliteSessionStore.from(noting(), { clock: testClock() });
  await store.create(newSession('a'));
  await store.create(newSession('b'));
  asked = [];
});

afterEach(() => {
  database.close();
});

/** How SQLite goes about what it was last asked for. */
function lastPlan(): string[] {
  const { sql = '', parameters = {} } = asked.at(-1) ?? {};
  return database
    .prepare(`EXPLAIN QUERY PLAN ${sql}`)
    .all(parameters)
    .map((row) => String(row['detail']));
}

const FILTERS: readonly (readonly [filter: SessionQuery, index: string, column: string])[] = [
  [{}, 'sessions', ''],
  [{ status: 'active' }, 'sessions_status', 'status'],
  [{ agentName: 'tester' }, 'sessions_agent', 'agent_name'],
  [{ parentId: 'p' }, 'sessions_parent', 'parent_id'],
  [{ executionStatus: 'failed' }, 'sessions_execution', 'execution_status'],
];

describe.each(FILTERS)('a list of %j', (filter, index, column) => {
  test.each(['created', 'updated'] as const)('is one walk along an index, by %s', async (by) => {
    const order = `${by}At` as const;
    await store.list({ ...filter, order });
    const walk = column === '' ? 'SCAN' : 'SEARCH';
    const where = column === '' ? '' : ` (${column}=?)`;
    expect(lastPlan()).toEqual([`${walk} sessions USING INDEX ${index}_${by}${where}`]);

    const { cursor } = await store.list({ order, limit: 1 });
    await store.list({ ...filter, order, cursor });
    const search = `SEARCH sessions USING INDEX ${index}_${by}`;
    const first = column === '' ? '' : `${column}=? AND `;
    expect(lastPlan()).toEqual([
      'MERGE (UNION ALL)',
      'LEFT',
      `${search} (${first}${by}_at=? AND session_id>?)`,
      'RIGHT',
      `${search} (${first}${by}_at<?)`,
    ]);
  });
});

test('a list of several filters walks along the index of one of them', async () => {
  await store.list({ status: 'active', agentName: 'tester', parentId: 'p', executionStatus: 'failed' });
  expect(lastPlan()).toEqual([
    expect.stringMatching(/^SEARCH sessions USING INDEX sessions_\w+_created \(\w+=\?\)$/),
  ]);
});

test('a session is found by its id', async () => {
  const found = 'SEARCH sessions USING INDEX sqlite_autoindex_sessions_1 (session_id=?)';
  const session = await store.load('a');
  expect(lastPlan()).toEqual([found]);
  await store.exists('a');
  expect(lastPlan()).toEqual([found.replace('USING INDEX', 'USING COVERING INDEX')]);
  if (session) await store.save(session);
  expect(lastPlan()).toEqual([found]);
  await store.delete('a');
  expect(lastPlan()).toEqual([found]);
});

test('an operation that succeeds is one statement', async () => {
  const session = await store.create(newSession('c'));
  await store.save(session);
  await store.load('c');
  await store.exists('c');
  await store.list();
  await store.delete('c');
  expect(asked.map(({ sql }) => sql.split(' ')[0])).toEqual([
    'INSERT',
    'UPDATE',
    'SELECT',
    'SELECT',
    'SELECT',
    'DELETE',
  ]);
});
