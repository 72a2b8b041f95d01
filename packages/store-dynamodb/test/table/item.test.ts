import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';
import { itemBytes, MAX_ITEM_BYTES } from '../../src/table/item.ts';
import { testDatabase } from '../support/test-database.ts';

const database = testDatabase();

test('the size of an item counts names and values, texts in UTF-8', () => {
  expect(itemBytes({})).toBe(0);
  expect(itemBytes({ pk: { S: 'é🦊' }, ü: { B: new Uint8Array(3) }, empty: { S: '' } })).toBe(8 + 5 + 5);
});

test('the size of an item is that of the server, to the byte', async () => {
  const client = database.client();
  const table = await database.newTable();
  const item = (bytes: number) => {
    const fixed = {
      pk: { S: 'S#a' },
      sk: { S: 'A' },
      name: { S: '' },
      payload: { B: new Uint8Array(100) },
    };
    return { ...fixed, name: { S: 'x'.repeat(bytes - itemBytes(fixed)) } };
  };
  expect(itemBytes(item(MAX_ITEM_BYTES))).toBe(MAX_ITEM_BYTES);
  await client.send(new PutItemCommand({ TableName: table, Item: item(MAX_ITEM_BYTES) }));
  const tooLarge = client.send(new PutItemCommand({ TableName: table, Item: item(MAX_ITEM_BYTES + 1) }));
  await expect(tooLarge).rejects.toMatchObject({ name: 'ValidationException' });
});
