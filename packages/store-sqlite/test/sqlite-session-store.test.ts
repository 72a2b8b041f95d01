import { DatabaseSync } from 'node:sqlite';
import { SqliteSessionStore } from '@holdfast/store-sqlite';
import {
  assertStoreCosts,
  sessionStoreTests,
  type CreateStore,
  type SessionStoreHarness,
} from '@holdfast/conformance';
import { describe, expect, test } from 'vitest';
import COSTS from './session-store-costs.json' with { type: 'json' };
import { stepsOfWalk, walkWithBases } from '@holdfast/conformance/test';
import { testCases } from '@holdfast/conformance/vitest';
import { overFile, rememberFile, TABLES } from './database-file.ts';
import { temporaryFolders } from './temporary-folders.ts';
import { Wire } from './wire.ts';

/** A higher effort runs the cases of many sessions with more of them. */
const EFFORT = Number(process.env['EFFORT'] ?? 1);
const { newFile } = temporaryFolders();
const wire = new Wire();
let path = ':memory:';

const reopen: CreateStore = async (clock, settings) => {
  const store = await SqliteSessionStore.open({ path, clock, ...settings });
  return { store, close: () => store.close() };
};

const inFile: CreateStore = (clock, settings) => {
  path = newFile();
  return reopen(clock, settings);
};

const remember = () => rememberFile(path, newFile());

async function corrupt(sessionId: string, change: (record: string) => string): Promise<void> {
  overFile(path, (database) => {
    const row = database.prepare('SELECT record FROM sessions WHERE session_id = ?').get(sessionId);
    const record = change(String(row?.['record']));
    database.prepare('UPDATE sessions SET record = ? WHERE session_id = ?').run(record, sessionId);
  });
}

/** Counts the rows of all tables in the file of the last store. */
async function countRows(): Promise<number> {
  let count = 0;
  overFile(path, (database) => {
    for (const table of TABLES) {
      count += Number(database.prepare(`SELECT count(*) AS count FROM ${table}`).get()?.['count']);
    }
  });
  return count;
}

const inMemory: CreateStore = (clock, settings) => {
  path = ':memory:';
  return reopen(clock, settings);
};

const throughWire: CreateStore = async (clock, settings) => {
  path = newFile();
  const database = new DatabaseSync(path);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF');
  const store = new SqliteSessionStore({ database: wire.to(database), clock, ...settings });
  return { store, close: async () => database.close() };
};
const measured: SessionStoreHarness = {
  create: throughWire,
  measure: wire.measure,
  faults: wire,
  countRows,
  indexedFilters: ['owner', 'status', 'agentName', 'parentId', 'executionStatus', 'waitingFor'],
  manySessions: EFFORT > 1 ? 10_000 : undefined,
};

const isOfWire = ({ name }: { readonly name: string }): boolean => /^(costs|faults|rows):/u.test(name);
const ofWire = sessionStoreTests(measured).filter(isOfWire);

/**
 * The statements and values of each operation on a session of 100 messages of 1 KB. Update a number when a change makes
 * its operation cheaper.
 */
test('each operation executes the statements and values that the table lists', async () => {
  const costs = assertStoreCosts(measured, COSTS);
  await expect(costs).resolves.toBeUndefined();
});

test('a read with any base gives what a read without one gives', async () => {
  const walk = walkWithBases({ create: inFile, reopen, remember }, { seed: 2, steps: stepsOfWalk(150) });
  await expect(walk).resolves.toBeUndefined();
});

describe.each([
  {
    where: 'in a file',
    tests: sessionStoreTests({ create: inFile, reopen, remember, corrupt }).filter((one) => !isOfWire(one)),
  },
  { where: 'in memory', tests: sessionStoreTests({ create: inMemory }).filter((one) => !isOfWire(one)) },
  { where: 'in a file, statement by statement', tests: ofWire },
])('SqliteSessionStore $where', ({ tests }) => {
  testCases(tests);
});
