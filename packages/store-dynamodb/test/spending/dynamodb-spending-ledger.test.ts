import { randomUUID } from 'node:crypto';
import { CreateTableCommand, PutItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import { spendingLedgerTests, type CreateLedger } from '@holdfast/conformance';
import { manualClock } from '@holdfast/core/testing';
import { DynamoDbSpendingLedger, spendingTableDefinition } from '@holdfast/store-dynamodb';
import { describe, expect, test } from 'vitest';
import { testCases } from '@holdfast/conformance/vitest';
import { testDatabase } from '../support/test-database.ts';

const database = testDatabase();
let table = '';

async function newTable(): Promise<string> {
  const name = `spending-${randomUUID()}`;
  await database.client().send(new CreateTableCommand(spendingTableDefinition(name)));
  return name;
}

const reopen: CreateLedger = async (clock) => {
  const ledger = new DynamoDbSpendingLedger({ client: database.client(), table, clock });
  return { ledger, close: () => ledger.close() };
};

const create: CreateLedger = async (clock) => {
  table = await newTable();
  return reopen(clock);
};

testCases(spendingLedgerTests({ create, reopen }));

const CALL = { owner: 'acme', inferenceId: 'a' };

/** The items of the owner `acme`, without the account. */
async function callItems(name: string) {
  const { Items = [] } = await database.client().send(
    new QueryCommand({
      TableName: name,
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :call)',
      ExpressionAttributeValues: { ':pk': { S: 'O#acme' }, ':call': { S: 'C#' } },
    }),
  );
  return Items;
}

test('settled calls get items with an end for native TTL, and count once then too', async () => {
  const clock = manualClock(1_800_000_000_000);
  const name = await newTable();
  const ledger = new DynamoDbSpendingLedger({
    client: database.client(),
    table: name,
    clock,
    keepIdsSeconds: 60,
  });
  const ids = Array.from({ length: 70 }, (_, index) => `call ${index}`);
  for (const inferenceId of ids) await ledger.settle({ owner: 'acme', inferenceId, amount: 0.1 });
  const items = await callItems(name);
  expect(items.length).toBeGreaterThanOrEqual(45);
  expect(new Set(items.map(({ expires }) => expires?.N))).toEqual(new Set(['1800000060']));
  for (const inferenceId of ids) await ledger.settle({ owner: 'acme', inferenceId, amount: 0.1 });
  expect((await ledger.read('acme')).total.spent).toBe(7);
});

test('the calls of one process share writes', async () => {
  const name = await newTable();
  const ledger = new DynamoDbSpendingLedger({ client: database.client(), table: name });
  const from = database.proxy.operations.length;
  await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      ledger.reserve({
        owner: 'acme',
        inferenceId: `call ${index}`,
        amount: 0.1,
        limits: {},
        expiresInSeconds: 60,
      }),
    ),
  );
  const sent = database.proxy.operations.slice(from);
  expect(sent.filter((operation) => operation === 'PutItem')).toHaveLength(2);
});

describe('an account of another layout', () => {
  test.each([
    ['{"layout":2}', 'STATE_VERSION', 'a newer release wrote this'],
    ['{"layout":0}', 'STATE_FORMAT', 'choose another table'],
    ['Dear diary', 'STATE_FORMAT', 'an account of spending'],
  ])('%s is refused', async (account, code, says) => {
    const name = await newTable();
    const Item = { pk: { S: 'O#acme' }, sk: { S: 'A' }, rev: { S: '1' }, account: { S: account } };
    await database.client().send(new PutItemCommand({ TableName: name, Item }));
    const ledger = new DynamoDbSpendingLedger({ client: database.client(), table: name });
    const refused = expect.objectContaining({ code, message: expect.stringContaining(says) });
    await expect(ledger.settle({ ...CALL, amount: 0.5 })).rejects.toEqual(refused);
    await expect(ledger.read('acme')).rejects.toEqual(refused);
  });
});

test('too many open reservations for one item are refused', async () => {
  const ledger = new DynamoDbSpendingLedger({ client: database.client(), table: await newTable() });
  const reserve = (index: number) =>
    ledger.reserve({
      owner: 'acme',
      inferenceId: `${'🦊'.repeat(90)} ${index}`,
      amount: 0.1,
      limits: {},
      expiresInSeconds: 60,
    });
  const all = await Promise.allSettled(Array.from({ length: 900 }, (_, index) => reserve(index)));
  const codes = all.map((one) => (one.status === 'rejected' ? one.reason.code : 'reserved'));
  expect(new Set(codes)).toEqual(new Set(['reserved', 'STORE_THROTTLED']));
});

test('a table that does not exist is an outage', async () => {
  const ledger = new DynamoDbSpendingLedger({ client: database.client(), table: 'nowhere' });
  await expect(ledger.settle({ ...CALL, amount: 0.5 })).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  await expect(ledger.read('acme')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
});

test.each<readonly [object, string]>([
  [{ table: 'a', nonsense: 1 }, 'DynamoDbSpendingLedger.open has no option "nonsense".'],
  [{ tableName: 'a' }, 'use "table"'],
  [{}, 'table of DynamoDbSpendingLedger.open must be the name of a table'],
])('DynamoDbSpendingLedger.open refuses %o', async (options, message) => {
  await expect(DynamoDbSpendingLedger.open(options as never)).rejects.toThrow(message);
});
