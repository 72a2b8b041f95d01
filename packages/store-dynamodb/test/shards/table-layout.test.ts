import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { newSession, testClock } from '@holdfast/conformance';
import { DynamoDbSessionStore } from '@holdfast/store-dynamodb';
import { expect, test } from 'vitest';
import { itemAt, itemsOf, type StoredItem } from '../support/stored-items.ts';
import { testDatabase } from '../support/test-database.ts';

const database = testDatabase();
const DAY = 86_400_000;
const [pk, sk] = ['M', 'M'];

const metaOf = (table: string): Promise<StoredItem | undefined> =>
  itemAt(database.client(), table, { pk: { S: pk }, sk: { S: sk } });

/** Changes the layout of a table by hand. */
async function writeMeta(table: string, numbers: Readonly<Record<string, string>>): Promise<void> {
  const Item: StoredItem = { pk: { S: pk }, sk: { S: sk }, rev: { S: '1' } };
  for (const [name, N] of Object.entries({ schema: '4', generation: '1', began: '0', ...numbers })) {
    Item[name] = { N };
  }
  await database.client().send(new PutItemCommand({ TableName: table, Item }));
}

/** One call of each method that can be the first request of a store. */
const firstUses: readonly (readonly [string, (store: DynamoDbSessionStore) => Promise<unknown>])[] = [
  ['create', (store) => store.create(newSession('b'))],
  ['load', (store) => store.load('a')],
  ['claim', (store) => store.claim('a', { workerId: 'Ada', leaseSeconds: 60 })],
  ['enqueue', (store) => store.enqueue('a', { id: 'i', content: 1 })],
  ['exists', (store) => store.exists('a')],
  ['delete', (store) => store.delete('a')],
  ['list', (store) => store.list()],
  ['due', (store) => store.due()],
  ['prune', (store) => store.prune()],
  ['announce', (store) => store.announce({ workerName: 'Ada', since: 0, sessionIds: [] }, 60)],
  ['workers', (store) => store.workers()],
];

test('the first store on a table writes its layout, and the others read it once a minute', async () => {
  const clock = testClock();
  const table = await database.newTable();
  const { operations } = database.proxy;
  let begin = operations.length;
  const done = (): readonly string[] => operations.slice(begin, (begin = operations.length));
  const store = await database.newStore({ table, clock, shards: 7 });
  const other = await database.newStore({ table, clock });
  done();
  await Promise.all([store.exists('a'), store.exists('b')]);
  expect(done()).toEqual(['GetItem', 'PutItem', 'GetItem', 'GetItem']);
  await expect(metaOf(table)).resolves.toEqual({
    pk: { S: pk },
    sk: { S: sk },
    rev: { S: '1' },
    schema: { N: '4' },
    generation: { N: '1' },
    shards: { N: '7' },
    began: { N: String(clock.time) },
  });
  done();
  const created = await other.create(newSession('a'));
  expect(done()).toEqual(['GetItem', 'PutItem', 'PutItem']);
  await other.save(created, { base: created });
  expect(done()).toEqual(['PutItem']);
  await store.list();
  expect(done().filter((operation) => operation === 'Query')).toHaveLength(7);
  clock.time += 59_999;
  await other.exists('a');
  expect(done()).toEqual(['GetItem']);
  clock.time += 1;
  await other.exists('a');
  expect(done()).toEqual(['GetItem', 'GetItem']);
});

test('of stores that begin at the same time, one writes the layout, and at most one raises it', async () => {
  const table = await database.newTable();
  const stores = await Promise.all([1, 2, 3, 4, 5, 6].map((shards) => database.newStore({ table, shards })));
  await expect(Promise.all(stores.map((store) => store.exists('a')))).resolves.toEqual(Array(6).fill(false));
  const { generation, shards } = (await metaOf(table)) ?? {};
  expect(['1', '2']).toContain(generation?.N);
  expect([1, 2, 3, 4, 5, 6]).toContain(Number(shards?.N));
});

test.each(firstUses)('%s: a store with fewer shards uses the shards of the table', async (_, use) => {
  const table = await database.newTable();
  const store = await database.newStore({ table, shards: 4 });
  await store.create(newSession('a'));
  await use(await database.newStore({ table, shards: 1 }));
  await expect(metaOf(table)).resolves.toMatchObject({ generation: { N: '1' }, shards: { N: '4' } });
});

test.each(firstUses)('%s: a third generation of shards waits for the second', async (what, use) => {
  const table = await database.newTable();
  const store = await database.newStore({ table, shards: 4 });
  const created = await store.create(newSession('a'));
  await (await database.newStore({ table, shards: 8 })).exists('a');
  const meta = await metaOf(table);
  await use(await database.newStore({ table, shards: 9 }));
  await expect(metaOf(table)).resolves.toEqual(meta);
  await expect(store.load('a')).resolves.toEqual(what === 'delete' ? undefined : created);
});

const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };

test('open refuses a third generation of shards', async () => {
  const table = await database.newTable();
  await (await database.newStore({ table, shards: 4 })).exists('a');
  await (await database.newStore({ table, shards: 8 })).exists('a');
  const message = expect.stringMatching(
    / from 4 to 8 shards\. Pass at most 8 shards .* at least 15 minutes after/,
  );
  const connection = { region: 'us-east-1', endpoint: database.proxy.endpoint, credentials };
  const opened = DynamoDbSessionStore.open({ ...connection, table, shards: 9 });
  await expect(opened).rejects.toMatchObject({ code: 'ARGUMENT_INVALID', message });
});

test.each(firstUses)('%s: the table of a newer release is refused, and does not change', async (_, use) => {
  const table = await database.newTable();
  await (await database.newStore({ table })).create(newSession('a'));
  await writeMeta(table, { schema: '5', shards: '4' });
  const items = await itemsOf(database.client(), table, 'a');
  const { operations } = database.proxy;
  const begin = operations.length;
  const refused = {
    code: 'STATE_VERSION',
    message: expect.stringMatching(/schema 4; .* open it with that release, found schema 5/),
  };
  await expect(use(await database.newStore({ table }))).rejects.toMatchObject(refused);
  // Only reads: a delete also asks who owns the session that it cannot read.
  expect(new Set(operations.slice(begin))).toEqual(new Set(['GetItem']));
  await expect(itemsOf(database.client(), table, 'a')).resolves.toEqual(items);
});

test.each([
  [{ schema: '3', shards: '4' }, 'STATE_FORMAT', 'this release reads layout 4 only'],
  [{ schema: '4.5', shards: '4' }, 'STATE_VERSION'],
  [{ shards: '0' }, 'STATE_FORMAT'],
  [{ shards: '101' }, 'STATE_FORMAT'],
  [{ shards: '4', generation: '1.5' }, 'STATE_FORMAT'],
  [{ shards: '4', generation: '2', before: '0' }, 'STATE_FORMAT'],
  [{ shards: '4', began: '0.5' }, 'STATE_FORMAT'],
])('an invalid layout (%o) is refused', async (numbers, code, says = '') => {
  const table = await database.newTable();
  await writeMeta(table, numbers);
  const using = (await database.newStore({ table })).exists('a');
  await expect(using).rejects.toMatchObject({
    code,
    path: `the table "${table}"`,
    message: expect.stringContaining(says),
  });
});

test('a store reads the layout again after a failure', async () => {
  const store = await database.newStore({ maxAttempts: 1 });
  database.proxy.fault = async () => 'cut';
  await expect(store.exists('a')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  database.proxy.fault = undefined;
  await expect(store.exists('a')).resolves.toBe(false);
});

test('the item of the layout is not listed, not due, and never swept', async () => {
  const clock = testClock();
  const table = await database.newTable();
  const store = await database.newStore({ table, clock });
  await expect(store.list()).resolves.toMatchObject({ sessions: [] });
  clock.time += 1_000 * DAY;
  await expect(store.due()).resolves.toMatchObject({ sessions: [] });
  await expect(store.prune()).resolves.toBe(0);
  await expect(metaOf(table)).resolves.toMatchObject({ schema: { N: '4' } });
});
