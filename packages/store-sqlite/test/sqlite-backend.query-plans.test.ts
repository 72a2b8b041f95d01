import { DatabaseSync } from 'node:sqlite';
import type { SessionQuery } from '@holdfast/core';
import { SqliteSessionStore } from '@holdfast/store-sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { newSession, testClock, withFact } from '@holdfast/conformance';
import { notingDatabase, type AskedSql } from './noting-database.ts';

const clock = testClock();
const asked: AskedSql[] = [];
let database: DatabaseSync;
let store: SqliteSessionStore;

beforeEach(async () => {
  database = new DatabaseSync(':memory:');
  store = new SqliteSessionStore({ database: notingDatabase(database, asked), clock });
  for (const id of ['a', 'b']) {
    await store.create(newSession(id));
    await store.enqueue(id, { id: 'item', content: 1 });
  }
  asked.length = 0;
});

afterEach(() => {
  database.close();
});

const isBoundary = ({ sql }: AskedSql): boolean => /^(BEGIN|COMMIT|SAVEPOINT|RELEASE)/u.test(sql);

/** The query plan of a statement. */
function planOf({ sql, parameters }: AskedSql): string[] {
  return database
    .prepare(`EXPLAIN QUERY PLAN ${sql}`)
    .all(parameters)
    .map((row) => String(row['detail']));
}

/** The query plans of the statements since the last call of this function. */
function plans(): string[][] {
  return asked
    .splice(0)
    .filter((statement) => !isBoundary(statement))
    .map(planOf);
}

const FILTERS: readonly (readonly [filter: SessionQuery, index: string, column: string])[] = [
  [{}, 'sessions', ''],
  [{ status: 'active' }, 'sessions_status', 'status'],
  [{ agentName: 'tester' }, 'sessions_agent', 'agent_name'],
  [{ parentId: 'p' }, 'sessions_parent', 'parent_id'],
  [{ executionStatus: 'failed' }, 'sessions_execution', 'execution_status'],
  [{ waitingFor: 'approval' }, 'sessions_waiting', 'waiting_for'],
];

describe.each(FILTERS)('a list of %j', (filter, index, column) => {
  test.each([
    { order: 'createdAt', by: 'created', at: 'created_at' },
    { order: 'lastActiveAt', by: 'active', at: 'last_active_at' },
  ] as const)('is one walk along an index, by $order', async ({ order, by, at }) => {
    await store.list({ ...filter, order });
    const walk = column === '' ? 'SCAN' : 'SEARCH';
    const where = column === '' ? '' : ` (${column}=?)`;
    expect(plans()).toEqual([[`${walk} sessions USING INDEX ${index}_${by}${where}`]]);

    const { cursor } = await store.list({ order, limit: 1 });
    asked.length = 0;
    await store.list({ ...filter, order, cursor });
    const search = `SEARCH sessions USING INDEX ${index}_${by}`;
    const first = column === '' ? '' : `${column}=? AND `;
    expect(plans()).toEqual([
      [
        'MERGE (UNION ALL)',
        'LEFT',
        `${search} (${first}${at}=? AND session_id>?)`,
        'RIGHT',
        `${search} (${first}${at}<?)`,
      ],
    ]);
  });
});

test('a list of several filters walks along the index of one of them', async () => {
  await store.list({
    status: 'active',
    agentName: 'tester',
    parentId: 'p',
    executionStatus: 'suspended',
    waitingFor: 'approval',
  });
  expect(plans()).toEqual([
    [expect.stringMatching(/^SEARCH sessions USING INDEX sessions_\w+_created \(\w+=\?\)$/)],
  ]);
});

test('a list of due sessions is one walk along an index', async () => {
  const { cursor, sessions } = await store.due({ limit: 1 });
  expect(sessions).toHaveLength(1);
  expect(plans()).toEqual([['SEARCH sessions USING INDEX sessions_due (due_at<?)']]);
  await store.due({ cursor });
  expect(plans()).toEqual([
    [
      'MERGE (UNION ALL)',
      'LEFT',
      'SEARCH sessions USING INDEX sessions_due (due_at=? AND session_id>?)',
      'RIGHT',
      'SEARCH sessions USING INDEX sessions_due (due_at>? AND due_at<?)',
    ],
  ]);
});

test('prune finds expired sessions by an index, and reads no more of them than its limit', async () => {
  await store.prune({ limit: 7 });
  expect(asked[1]?.parameters).toMatchObject({ most: 7 });
  // Some releases of SQLite add a filter for the subquery's result.
  expect(plans()[0]?.slice(0, 3)).toEqual([
    'SEARCH sessions USING INTEGER PRIMARY KEY (rowid=?)',
    'LIST SUBQUERY 1',
    'SEARCH sessions USING COVERING INDEX sessions_expiring (expires_at<?)',
  ]);
});

test('every operation on a session finds its rows by an index', async () => {
  const created = await store.create(newSession('c'));
  await store.enqueue('c', { id: 'item', content: 'Hello' });
  const { session, claim } = await store.claim('c', { workerId: 'worker', leaseSeconds: 60 });
  await store.renew(claim, { leaseSeconds: 60 });
  const changed = withFact(session, 'fact', 1);
  const said = changed.withState(changed.state.withUserMessage('Hello', undefined, clock.now()));
  const { epoch } = claim;
  const saved = await store.save(said, { base: session, epoch, acknowledge: [{ id: 'item', position: 0 }] });
  await store.save(saved.withState(created.state), { epoch });
  await store.release(claim);
  await store.exists('c');
  await store.load('c');
  await store.delete('c');
  const done = plans();
  expect(done.length).toBeGreaterThan(25);
  const isSearch = /^SEARCH \w+ USING ((COVERING )?INDEX|PRIMARY KEY)|^SCALAR SUBQUERY/u;
  expect(done.flat().filter((detail) => !isSearch.test(detail))).toEqual([]);
});

test('the inbox is read from a position on, without sorting', async () => {
  await store.claim('a', { workerId: 'worker', leaseSeconds: 60 });
  const read = asked.filter(({ sql }) => sql.includes('FROM session_inbox'));
  expect(read.map(({ parameters }) => parameters)).toEqual([
    { session_id: 'a', incarnation: expect.any(String), from: 0, to: 1, limit: 100 },
  ]);
  expect(read.map(planOf)).toEqual([
    [
      'SEARCH session_inbox USING PRIMARY KEY (session_key=? AND position>? AND position<?)',
      'SCALAR SUBQUERY 1',
      expect.stringMatching(/^SEARCH sessions USING INDEX sqlite_autoindex_sessions_1/u),
    ],
  ]);
});

test('a save under a claim sets no column that a list is ordered by', async () => {
  const { session, claim } = await store.claim('a', { workerId: 'worker', leaseSeconds: 60 });
  asked.length = 0;
  clock.time += 1_000;
  await store.save(withFact(session, 'fact', 1), { base: session, epoch: claim.epoch });
  const updates = asked.filter(({ sql }) => sql.startsWith('UPDATE'));
  expect(updates.map(({ sql }) => /SET (.+) WHERE/u.exec(sql)?.[1])).toEqual([
    'record_name = :record_name, record = :record, head = :head',
  ]);
});

test('a delete finds the content of its session by an index', () => {
  const trigger = database.prepare(`SELECT sql FROM sqlite_schema WHERE type = 'trigger'`).get();
  const deletes = String(trigger?.['sql']).match(/DELETE FROM [^;]+/gu) ?? [];
  expect(deletes).toHaveLength(4);
  for (const sql of deletes) {
    expect(planOf({ sql: sql.replace('old.session_key', '1'), parameters: {} })).toEqual([
      expect.stringMatching(/^SEARCH \w+ USING ((COVERING )?INDEX \w+|PRIMARY KEY) \(session_key=\?\)$/u),
    ]);
  }
});
