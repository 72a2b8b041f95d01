import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { AgentSession } from '@holdfast/core';
import { SqliteSessionStore } from '@holdfast/store-sqlite';
import { expect, test } from 'vitest';
import { newSession, testClock, withFact } from '@holdfast/conformance';
import { notingDatabase, type AskedSql } from './noting-database.ts';
import { temporaryFolders } from './temporary-folders.ts';

const { newFile } = temporaryFolders();
const clock = testClock();
const SAVES = 40;
const PAGE_BYTES = 4_096 + 24; // in the write-ahead log
const LOG_HEADER_BYTES = 32;

function withMessages(session: AgentSession, count: number): AgentSession {
  let { state } = session;
  for (let index = 0; index < count; index++) {
    state = state.withUserMessage(`${index} `.padEnd(1_000, '.'), undefined, clock.now());
  }
  return session.withState(state);
}

/** The average cost of a save that adds two messages to a session of `messages` messages. */
async function costOfSaves(messages: number): Promise<{ pages: number; statements: string[][] }> {
  const path = newFile();
  const database = new DatabaseSync(path);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF');
  const asked: AskedSql[] = [];
  const store = new SqliteSessionStore({ database: notingDatabase(database, asked), clock });
  let session = await store.create(withMessages(newSession('a'), messages));
  let pages = 0;
  const statements: string[][] = [];
  for (let saves = 0; saves < SAVES; saves++) {
    clock.time += 1_000;
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    asked.length = 0;
    session = await store.save(withMessages(session, 2), { base: session });
    pages += (statSync(`${path}-wal`).size - LOG_HEADER_BYTES) / PAGE_BYTES;
    statements.push(asked.map(({ sql }) => sql));
  }
  expect((await store.load('a'))?.state.messages).toHaveLength(messages + 2 * SAVES);
  database.close();
  return { pages: pages / SAVES, statements };
}

test('a save costs the same for a session of 5,000 messages as for a session of 10', async () => {
  const short = await costOfSaves(10);
  const long = await costOfSaves(5_000);
  expect(long.statements).toEqual(short.statements);
  expect(Math.abs(long.pages - short.pages)).toBeLessThanOrEqual(1);
  expect(long.pages).toBeLessThan(12);
});

/** The first words of the statements that `act` executes on a new session. */
async function statementsOf(
  act: (store: SqliteSessionStore, created: AgentSession) => Promise<unknown>,
): Promise<string[]> {
  const asked: AskedSql[] = [];
  const database = new DatabaseSync(':memory:');
  const store = new SqliteSessionStore({ database: notingDatabase(database, asked), clock });
  const created = await store.create(newSession('a'));
  asked.length = 0;
  await act(store, created);
  database.close();
  return asked.map(
    ({ sql }) => /^(BEGIN IMMEDIATE|(INSERT INTO|DELETE FROM|UPDATE) \w+|\w+)/u.exec(sql)?.[0] ?? sql,
  );
}

const write = (...statements: readonly string[]): string[] => [
  'BEGIN IMMEDIATE',
  'SAVEPOINT',
  ...statements,
  'RELEASE',
  'COMMIT',
];

test.each<{ what: string; act: Parameters<typeof statementsOf>[0]; statements: readonly string[] }>([
  {
    what: 'a save with a base writes the changes, and reads nothing',
    act: (store, base) => store.save(withFact(base, 'fact', 1), { base }),
    statements: write('UPDATE sessions', 'INSERT INTO session_values'),
  },
  {
    what: 'a save of added messages truncates the list and appends to it',
    act: (store, base) => store.save(withMessages(base, 2), { base }),
    statements: write(
      'UPDATE sessions',
      'DELETE FROM session_lists',
      'INSERT INTO session_lists',
      'INSERT INTO session_lists',
    ),
  },
  {
    what: 'a save without a base replaces the content',
    act: (store, base) => store.save(withFact(base, 'fact', 1)),
    statements: [
      'SELECT',
      ...write(
        'UPDATE sessions',
        'DELETE FROM session_values',
        'DELETE FROM session_lists',
        'INSERT INTO session_values',
        'INSERT INTO session_values',
      ),
    ],
  },
  {
    what: 'a claim reads the record, then each part of the content in one transaction, and writes one row',
    act: (store) => store.claim('a', { workerId: 'worker', leaseSeconds: 1 }),
    statements: ['SELECT', 'BEGIN', 'SELECT', 'SELECT', 'COMMIT', ...write('UPDATE sessions')],
  },
  {
    what: 'a claim with a base reads no content',
    act: (store, base) => store.claim('a', { workerId: 'worker', leaseSeconds: 1, base }),
    statements: ['SELECT', ...write('UPDATE sessions')],
  },
  {
    what: 'enqueue adds one row for the item',
    act: (store) => store.enqueue('a', { id: 'item', content: 1 }),
    statements: ['SELECT', ...write('UPDATE sessions', 'INSERT INTO session_inbox')],
  },
  { what: 'exists executes one SELECT', act: (store) => store.exists('a'), statements: ['SELECT'] },
  { what: 'list executes one SELECT', act: (store) => store.list(), statements: ['SELECT'] },
  { what: 'due executes one SELECT', act: (store) => store.due(), statements: ['SELECT'] },
  {
    what: 'prune without expired sessions executes one transaction',
    act: (store) => store.prune(),
    statements: ['BEGIN IMMEDIATE', 'DELETE FROM sessions', 'COMMIT'],
  },
  {
    what: 'delete reads the record and deletes the row',
    act: (store) => store.delete('a'),
    statements: ['SELECT', ...write('DELETE FROM sessions')],
  },
])('$what', async ({ act, statements }) => {
  await expect(statementsOf(act)).resolves.toEqual(statements);
});

test.each([
  { limit: 1, pruned: 1, transactions: 1 },
  { limit: 20, pruned: 20, transactions: 1 },
  { limit: 45, pruned: 45, transactions: 3 },
  { limit: undefined, pruned: 50, transactions: 3 },
])(
  'prune with limit $limit deletes $pruned expired sessions, 20 in a transaction',
  async ({ limit, pruned, transactions }) => {
    const statements = await statementsOf(async (store) => {
      for (let index = 0; index < 50; index++) {
        await store.create(newSession(`expired ${index}`), { expiry: { at: clock.now() } });
      }
      await expect(store.prune({ limit })).resolves.toBe(pruned);
    });
    expect(statements.filter((sql) => sql === 'DELETE FROM sessions')).toHaveLength(transactions);
  },
);
