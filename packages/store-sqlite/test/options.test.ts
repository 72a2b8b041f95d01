import { DatabaseSync } from 'node:sqlite';
import { SqliteSessionStore } from '@holdfast/store-sqlite';
import { describe, expect, test } from 'vitest';

const invalid = (message: string): unknown =>
  expect.objectContaining({ code: 'ARGUMENT_INVALID', message: expect.stringContaining(message) });

describe('SqliteSessionStore', () => {
  const make = (options: object) => () => new SqliteSessionStore(options as never);
  const database = new DatabaseSync(':memory:');

  test.each<readonly [object | string, string]>([
    [{ database, nonsense: 1 }, 'SqliteSessionStore has no option "nonsense". Known options: clock, expiry,'],
    [{ path: 'a.db' }, 'has no option "path": use SqliteSessionStore.open({ path }).'],
    [{}, 'database of SqliteSessionStore must be an open DatabaseSync'],
    [{ database: 'a.db' }, 'database of SqliteSessionStore must be an open DatabaseSync'],
    [{ database, clock: {} }, 'clock of SqliteSessionStore must be'],
    [{ database, maxInboxItems: 0 }, 'maxInboxItems of SqliteSessionStore must be'],
    [{ database, expiry: 60 }, 'An expiry is'],
    ['a.db', 'SqliteSessionStore takes an object with options'],
  ])('refuses %o', (options, message) => {
    expect(make(options as object)).toThrow(invalid(message));
  });
});

test.each<readonly [object | string | undefined, string]>([
  [{ path: ':memory:', nonsense: 1 }, 'SqliteSessionStore.open has no option "nonsense".'],
  [{ file: 'a.db' }, 'has no option "file": use "path".'],
  [{ path: ':memory:', busyTimeout: 5 }, 'did you mean "busyTimeoutSeconds"?'],
  [{ path: ':memory:', ttl: 5 }, 'set "expiry", as in expiry: { afterSeconds: 3600 }'],
  [{}, 'path of SqliteSessionStore.open must be the path of a file, or ":memory:", found nothing.'],
  [{ path: '' }, 'path of SqliteSessionStore.open must be the path of a file'],
  [{ path: ':memory:', busyTimeoutSeconds: -1 }, 'busyTimeoutSeconds of SqliteSessionStore.open must be'],
  ['a.db', 'SqliteSessionStore.open takes an object with options'],
  [undefined, 'SqliteSessionStore.open takes an object with options, found nothing.'],
])('SqliteSessionStore.open refuses %o', async (options, message) => {
  await expect(SqliteSessionStore.open(options as never)).rejects.toEqual(invalid(message));
});
