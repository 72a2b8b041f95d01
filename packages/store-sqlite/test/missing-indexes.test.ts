import { DatabaseSync } from 'node:sqlite';
import { sessionStoreTests, type CreateStore } from '@holdfast/conformance';
import { SqliteSessionStore } from '@holdfast/store-sqlite';
import { expect, test } from 'vitest';
import { temporaryFolders } from './temporary-folders.ts';
import { Wire } from './wire.ts';

const { newFile } = temporaryFolders();
const LIST = 'costs: a list costs the same for any number of sessions';
const FILTER = 'costs: a list with a filter costs the same for any number of sessions that do not match';
const TABLES = ['sessions', 'session_values', 'session_lists', 'session_inbox', 'session_archives'];

/** Returns the test of a case, on stores whose schema lacks what the SQL drops. */
function testWithout(drop: string, name: string): () => Promise<void> {
  const wire = new Wire();
  let path = '';
  const create: CreateStore = async (clock, settings) => {
    path = newFile();
    const database = new DatabaseSync(path);
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF');
    const store = new SqliteSessionStore({ database: wire.to(database), clock, ...settings });
    database.exec(drop);
    return { store, close: async () => database.close() };
  };
  const countRows = async (): Promise<number> => {
    const database = new DatabaseSync(path);
    const counts = TABLES.map((table) => database.prepare(`SELECT count(*) AS count FROM ${table}`).get());
    database.close();
    return counts.reduce((sum, row) => sum + Number(row?.['count']), 0);
  };
  const indexedFilters = [
    'owner',
    'status',
    'agentName',
    'parentId',
    'executionStatus',
    'waitingFor',
  ] as const;
  const tests = sessionStoreTests({ create, measure: wire.measure, countRows, indexedFilters });
  return tests.find((one) => one.name === name)?.run ?? (() => Promise.reject(new Error(`No case ${name}.`)));
}

test.each([
  ['INDEX sessions_created', LIST, /a list by createdAt/u],
  ['INDEX sessions_active', LIST, /a list by lastActiveAt/u],
  [
    'INDEX sessions_status_created; DROP INDEX sessions_status_active',
    FILTER,
    /status, by createdAt.*status, by lastActiveAt/u,
  ],
  [
    'INDEX sessions_agent_created; DROP INDEX sessions_agent_active',
    FILTER,
    /agentName, by createdAt.*agentName, by lastActiveAt/u,
  ],
  [
    'INDEX sessions_parent_created; DROP INDEX sessions_parent_active',
    FILTER,
    /parentId, by createdAt.*parentId, by lastActiveAt/u,
  ],
  [
    'INDEX sessions_owner_created; DROP INDEX sessions_owner_active',
    FILTER,
    /owner, by createdAt.*owner, by lastActiveAt/u,
  ],
  [
    'INDEX sessions_execution_created; DROP INDEX sessions_execution_active',
    FILTER,
    /executionStatus, by createdAt.*executionStatus, by lastActiveAt/u,
  ],
  [
    'INDEX sessions_waiting_created; DROP INDEX sessions_waiting_active',
    FILTER,
    /waitingFor, by createdAt.*waitingFor, by lastActiveAt/u,
  ],
  ['INDEX sessions_due', 'costs: due and takeDue cost the same for any number of due sessions', /due: /u],
  ['INDEX sessions_expiring', 'costs: work on a session costs the same for any number of sessions', /prune/u],
  ['TRIGGER sessions_deleted', 'rows: a deleted session leaves no rows', /./u],
  ['TRIGGER sessions_deleted', 'rows: an expired session leaves no rows after prune', /./u],
])('the cases find a schema without the %s: %s', async (what, name, message) => {
  await expect(testWithout('', name)()).resolves.toBeUndefined();
  await expect(testWithout(`DROP ${what}`, name)()).rejects.toThrow(message);
});
