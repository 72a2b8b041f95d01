import { DatabaseSync } from 'node:sqlite';
import { spendingLedgerTests, type CreateLedger } from '@holdfast/conformance';
import { manualClock } from '@holdfast/core/testing';
import { SqliteSessionStore, SqliteSpendingLedger } from '@holdfast/store-sqlite';
import { describe, expect, test } from 'vitest';
import { testCases } from '@holdfast/conformance/vitest';
import { temporaryFolders } from '../temporary-folders.ts';

const { newFile, databaseFile } = temporaryFolders();
let path = '';

const reopen: CreateLedger = async (clock) => {
  const ledger = await SqliteSpendingLedger.open({ path, clock });
  return { ledger, close: () => ledger.close() };
};

const create: CreateLedger = (clock) => {
  path = newFile();
  return reopen(clock);
};

testCases(spendingLedgerTests({ create, reopen }));

describe('a file of another layout', () => {
  const header = (id: number, version: number): string =>
    databaseFile(
      `CREATE TABLE accounts (owner TEXT); PRAGMA application_id = ${id}; PRAGMA user_version = ${version}`,
    );

  test.each<readonly [string, () => Promise<string> | string, string, string]>([
    [
      'of sessions',
      async () => {
        const file = newFile();
        await (await SqliteSessionStore.open({ path: file })).close();
        return file;
      },
      'STATE_FORMAT',
      'expected a Holdfast spending database; choose another file',
    ],
    [
      'of a newer release',
      () => header(0x486f6c53, 2),
      'STATE_VERSION',
      'a newer release wrote the database',
    ],
    ['of another application', () => header(7, 1), 'STATE_FORMAT', 'another application (application_id 7'],
  ])('%s is refused and not changed', async (_, make, code, says) => {
    const file = await make();
    const message = expect.stringContaining(says);
    await expect(SqliteSpendingLedger.open({ path: file })).rejects.toEqual(
      expect.objectContaining({ code, message }),
    );
    const database = new DatabaseSync(file, { readOnly: true });
    const tables = database.prepare("SELECT name FROM sqlite_schema WHERE name = 'settled_calls'").all();
    database.close();
    expect(tables).toEqual([]);
  });

  test('a session store refuses the file of a ledger', async () => {
    const file = newFile();
    await (await SqliteSpendingLedger.open({ path: file })).close();
    await expect(SqliteSessionStore.open({ path: file })).rejects.toThrow('a Holdfast session database');
  });
});

test('the ids of settled calls are removed when they need not be kept any longer', async () => {
  const clock = manualClock();
  const database = new DatabaseSync(':memory:');
  const ledger = new SqliteSpendingLedger({ database, clock, keepIdsSeconds: 100 });
  for (let call = 0; call < 300; call++) {
    await ledger.settle({ owner: `owner ${call % 7}`, inferenceId: `call ${call}`, amount: 0.1 });
    clock.advance(10_000);
  }
  const { count } = database.prepare('SELECT count(*) AS count FROM settled_calls').get() ?? {};
  expect(count).toBeLessThanOrEqual(11);
  await ledger.close();
  database.close();
});

test('the amounts of a file can be read with SQL', async () => {
  const database = new DatabaseSync(':memory:');
  const ledger = new SqliteSpendingLedger({ database });
  await ledger.settle({ owner: 'acme', inferenceId: 'a', amount: 0.25 });
  expect(database.prepare('SELECT owner, total_spent FROM accounts').all()).toEqual([
    { owner: 'acme', total_spent: 250_000_000 },
  ]);
});

test.each<readonly [object | undefined, string]>([
  [{ path: ':memory:', nonsense: 1 }, 'SqliteSpendingLedger.open has no option "nonsense".'],
  [{ file: 'a.db' }, 'has no option "file": use "path".'],
  [{ path: ':memory:', keepIdsSeconds: 0 }, 'keepIdsSeconds of SqliteSpendingLedger.open must be'],
  [{}, 'path of SqliteSpendingLedger.open must be the path of a file, or ":memory:", found nothing.'],
])('SqliteSpendingLedger.open refuses %o', async (options, message) => {
  await expect(SqliteSpendingLedger.open(options as never)).rejects.toThrow(message);
});
