import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDbSessionStore, tableDefinition } from '@holdfast/store-dynamodb';
import { expect, test } from 'vitest';

const invalid = (message: string): unknown =>
  expect.objectContaining({ code: 'ARGUMENT_INVALID', message: expect.stringContaining(message) });

const client = new DynamoDBClient({ region: 'us-east-1' });
const blobs = { put: async () => undefined, get: async () => undefined, delete: async () => undefined };

test.each<readonly [object | undefined, string]>([
  [
    { client, table: 'a', nonsense: 1 },
    'DynamoDbSessionStore has no option "nonsense". Known options: clock,',
  ],
  [{ client, tableName: 'a' }, 'has no option "tableName": use "table".'],
  [
    { client, table: 'a', region: 'b' },
    'pass it to the client, as in client: new DynamoDBClient({ region })',
  ],
  [{ client }, 'table of DynamoDbSessionStore must be the name of a table, found nothing.'],
  [{ client, table: '' }, 'table of DynamoDbSessionStore must be the name of a table'],
  [{ table: 'a' }, 'client of DynamoDbSessionStore must be a DynamoDBClient'],
  [
    { client, table: 'a', shards: 101 },
    'shards of DynamoDbSessionStore must be a whole number from 1 to 100',
  ],
  [
    { client, table: 'a', compactAfterSaves: 0.5 },
    'compactAfterSaves of DynamoDbSessionStore must be a whole number',
  ],
  [
    { client, table: 'a', isActivityListed: 'no' },
    'isActivityListed of DynamoDbSessionStore must be true or false',
  ],
  [{ client, table: 'a', blobs }, 'blobs has no option "put"'],
  [
    { client, table: 'a', blobs: { store: {} } },
    'store of blobs must be an object with put(), get() and delete()',
  ],
  [{ client, table: 'a', blobs: { store: blobs, minBytes: 0 } }, 'minBytes of blobs must be a whole number'],
  [{ client, table: 'a', maxInboxItems: '5' }, 'maxInboxItems of DynamoDbSessionStore must be'],
  [{ client, table: 'a', keptRevisions: -1 }, 'keptRevisions of DynamoDbSessionStore must be'],
  [undefined, 'DynamoDbSessionStore takes an object with options, found nothing.'],
])('DynamoDbSessionStore refuses %o', (options, message) => {
  expect(() => new DynamoDbSessionStore(options as never)).toThrow(invalid(message));
});

test.each<readonly [object, string]>([
  [{ table: 'a', nonsense: 1 }, 'DynamoDbSessionStore.open has no option "nonsense".'],
  [{ table: 'a', client }, 'use new DynamoDbSessionStore({ client })'],
  [{ region: 'us-east-1' }, 'table of DynamoDbSessionStore.open must be the name of a table, found nothing.'],
])('DynamoDbSessionStore.open refuses %o', async (options, message) => {
  await expect(DynamoDbSessionStore.open(options as never)).rejects.toEqual(invalid(message));
});

test.each<readonly [unknown, unknown, string]>([
  ['a', { nonsense: 1 }, 'tableDefinition has no option "nonsense". Known options: isActivityListed.'],
  ['a', { isActivityListed: 1 }, 'isActivityListed of tableDefinition must be true or false'],
  [undefined, {}, 'name must be the name of a table, found nothing.'],
])('tableDefinition refuses %o with %o', (name, options, message) => {
  expect(() => tableDefinition(name as never, options as never)).toThrow(invalid(message));
});
