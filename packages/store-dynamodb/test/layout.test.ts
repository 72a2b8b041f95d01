import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { newSession, testClock } from '@holdfast/conformance';
import type { SessionStore } from '@holdfast/core';
import { expect, test } from 'vitest';
import type { StoredItem } from './stored-items.ts';
import { itemAt, itemsOf } from './stored-items.ts';
import { testDatabase } from './test-database.ts';

const database = testDatabase();
const DAY = 86_400_000;
const [pk, sk] = ['M', 'M'];

const metaOf = (table: string): Promise<StoredItem | undefined> =>
  itemAt(database.client(), table, { pk: { S: pk }, sk: { S: sk } });

/** Changes what a table says of itself, as by hand. */
async function writeMeta(table: string, schema: string, shards: string): Promise<void> {
  const Item = { pk: { S: pk }, sk: { S: sk }, schema: { N: schema }, shards: { N: shards } };
  await database.client().send(new PutItemCommand({ TableName: table, Item }));
}

/** One of each request that a store is the first time asked for. */
const firstUses: readonly (readonly [string, (store: SessionStore) => Promise<unknown>])[] = [
  ['create', (store) => store.create(newSession('b'))],
  ['load', (store) => store.load('a')],
  ['claim', (store) => store.claim('a', { owner: 'Ada', leaseSeconds: 60 })],
  ['enqueue', (store) => store.enqueue('a', { id: 'i', content: 1 })],
  ['exists', (store) => store.exists('a')],
  ['delete', (store) => store.delete('a')],
  ['list', (store) => store.list()],
  ['due', (store) => store.due()],
  ['prune', (store) => store.prune()],
];

test('the first store on a table says how sessions are kept, the others ask once', async () => {
  const table = await database.newTable();
  const { operations } = database.proxy;
  let begin = operations.length;
  const done = (): readonly string[] => operations.slice(begin, (begin = operations.length));
  const [store, other] = [await database.newStore({ table, shards: 7 }), await database.newStore({ table })];
  done();
  await Promise.all([store.exists('a'), store.exists('b')]);
  expect(done()).toEqual(['GetItem', 'PutItem', 'GetItem', 'GetItem']);
  await expect(metaOf(table)).resolves.toEqual({
    pk: { S: pk },
    sk: { S: sk },
    schema: { N: '1' },
    shards: { N: '7' },
  });
  done();
  const created = await other.create(newSession('a'));
  expect(done()).toEqual(['GetItem', 'PutItem', 'PutItem']);
  await other.save(created, { base: created });
  expect(done()).toEqual(['PutItem', 'PutItem']);
  await store.list();
  expect(done().filter((operation) => operation === 'Query')).toHaveLength(7);
});

test('of stores that begin at once, one says it, and those that were told otherwise are refused', async () => {
  const table = await database.newTable();
  const stores = await Promise.all([1, 2, 3, 4, 5, 6].map((shards) => database.newStore({ table, shards })));
  const began = await Promise.allSettled(stores.map((store) => store.exists('a')));
  const won = began.flatMap(({ status }, index) => (status === 'fulfilled' ? [`${index + 1}`] : []));
  const meta = await metaOf(table);
  expect(won).toEqual([meta?.['shards']?.N]);
});

test.each(firstUses)('%s: a store with another number of shards is refused', async (_, use) => {
  const table = await database.newTable();
  const store = await database.newStore({ table, shards: 4 });
  const created = await store.create(newSession('a'));
  for (const shards of [1, 8]) {
    const message = `Invalid layout at the table "${table}": expected ${shards} shards, found 4 shards.`;
    const refused = { code: 'STATE_FORMAT', message };
    await expect(use(await database.newStore({ table, shards }))).rejects.toMatchObject(refused);
  }
  await expect(store.load('a')).resolves.toEqual(created);
});

test.each(firstUses)('%s: a table of a newer release is refused, and left as it is', async (_, use) => {
  const table = await database.newTable();
  await (await database.newStore({ table })).create(newSession('a'));
  await writeMeta(table, '2', '4');
  const items = await itemsOf(database.client(), table, 'a');
  const { operations } = database.proxy;
  const begin = operations.length;
  const refused = { code: 'STATE_VERSION', message: expect.stringMatching(/schema 1, found schema 2/) };
  await expect(use(await database.newStore({ table }))).rejects.toMatchObject(refused);
  expect(operations.slice(begin)).toEqual(['GetItem']);
  await expect(itemsOf(database.client(), table, 'a')).resolves.toEqual(items);
});

test.each([
  ['0', '4'],
  ['1.5', '4'],
  ['1', '0'],
  ['1', '101'],
])('what no release has written (schema %s, shards %s) is refused', async (schema, shards) => {
  const table = await database.newTable();
  await writeMeta(table, schema, shards);
  const using = (await database.newStore({ table })).exists('a');
  await expect(using).rejects.toMatchObject({ code: schema === '1.5' ? 'STATE_VERSION' : 'STATE_FORMAT' });
});

test('a store that could not ask asks again', async () => {
  const store = await database.newStore({ maxAttempts: 1 });
  database.proxy.fault = async () => 'cut';
  await expect(store.exists('a')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  database.proxy.fault = undefined;
  await expect(store.exists('a')).resolves.toBe(false);
});

test('it is no session: neither listed nor due, and never swept', async () => {
  const clock = testClock();
  const table = await database.newTable();
  const store = await database.newStore({ table, clock });
  await expect(store.list()).resolves.toMatchObject({ sessions: [] });
  clock.time += 1_000 * DAY;
  await expect(store.due()).resolves.toMatchObject({ sessions: [] });
  await expect(store.prune()).resolves.toBe(0);
  await expect(metaOf(table)).resolves.toMatchObject({ schema: { N: '1' } });
});

test('a number of shards that was raised by hand loses no session', async () => {
  const clock = testClock();
  const table = await database.newTable();
  const ids = Array.from({ length: 12 }, (_, index) => `session ${index}`).toSorted();
  const before = await database.newStore({ table, clock, shards: 2, expiry: { afterSeconds: 60 } });
  for (const id of ids) {
    await before.create(newSession(id));
    await before.enqueue(id, { id: 'i', content: 1 });
  }
  await writeMeta(table, '1', '9');
  const store = await database.newStore({ table, clock });
  const idsIn = (page: { readonly sessions: readonly { readonly sessionId: string }[] }): string[] =>
    page.sessions.map(({ sessionId }) => sessionId).toSorted();
  for (const id of ids.slice(0, 6)) await store.enqueue(id, { id: 'j', content: 2 });
  expect(idsIn(await store.list({ limit: 20 }))).toEqual(ids);
  expect(idsIn(await store.due({ limit: 20 }))).toEqual(ids);
  clock.time += 60_000;
  await expect(store.prune()).resolves.toBe(12);
});
