import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { newSession, testClock } from '@holdfast/conformance';
import type { SessionStore } from '@holdfast/core';
import { expect, test } from 'vitest';
import { itemsOf } from '../support/stored-items.ts';
import { freezeIndexes } from '../support/frozen-indexes.ts';
import { testDatabase } from '../support/test-database.ts';

const database = testDatabase();
const MINUTE = 60_000;
const ORDERS = ['createdAt', 'lastActiveAt'] as const;
const LONG = 'o'.repeat(1_000);

async function idsOf(
  store: SessionStore,
  owner: string,
  order: (typeof ORDERS)[number] = 'createdAt',
): Promise<string[]> {
  return (await store.list({ owner, order })).sessions.map(({ sessionId }) => sessionId);
}

test.each(ORDERS)(
  'a list of an owner by %s is one query, and reads no session of another owner',
  async (order) => {
    const clock = testClock();
    const store = await database.newStore({ clock, shards: 7 });
    const owners = ['Ada', LONG, `${LONG.slice(1)}p`];
    for (let index = 0; index < 15; index++) {
      clock.time += 1_000;
      await store.create(newSession(`s${index}`, { at: clock.time, owner: owners[index % 3] }));
    }
    await store.create(newSession('of nobody'));
    for (const [at, owner] of owners.entries()) {
      const sent: unknown[] = [];
      database.proxy.fault = async ({ operation, body }, forward) => {
        const reply = await forward();
        const { Count } = JSON.parse(reply.body) as { readonly Count?: number };
        sent.push([operation, body['IndexName'], Count]);
        return reply;
      };
      const expected = [12, 9, 6, 3, 0].map((index) => `s${index + at}`);
      await expect(idsOf(store, owner, order)).resolves.toEqual(expected);
      const index = order === 'createdAt' ? 'ownedCreated' : 'ownedActive';
      expect(sent).toEqual([
        ['Query', index, 5],
        ['BatchGetItem', undefined, undefined],
      ]);
    }
  },
);

test('sessions of one owner with the same beginning and instant are in order over several pages', async () => {
  const store = await database.newStore({ clock: testClock() });
  const ids = ['e', 'b', 'd', 'a', 'c'].map((end) => 'x'.repeat(200) + end);
  for (const id of ids) await store.create(newSession(id, { owner: LONG }));
  await store.create(newSession(`${'x'.repeat(200)}aa`, { owner: 'Bo' }));
  const pages: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.list({ owner: LONG, limit: 2, cursor });
    pages.push(...page.sessions.map(({ sessionId }) => sessionId));
    ({ cursor } = page);
  } while (cursor);
  expect(pages).toEqual(ids.toSorted());
});

test('an id that another owner uses now is not listed, although the index lags and the session is unreadable', async () => {
  const clock = testClock();
  const table = await database.newTable();
  const store = await database.newStore({ clock, table });
  for (const id of ['a', 'b']) await store.create(newSession(id, { owner: 'Ada' }));
  freezeIndexes(database);
  for (const order of ORDERS) await expect(idsOf(store, 'Ada', order)).resolves.toEqual(['a', 'b']);
  await store.delete('a');
  await store.create(newSession('a', { owner: 'Bo' }));
  const client = database.client();
  const header = (await itemsOf(client, table, 'a')).find(({ sk }) => sk?.S === 'A');
  await client.send(
    new PutItemCommand({ TableName: table, Item: { ...header, payload: { B: Buffer.from('?') } } }),
  );
  for (const order of ORDERS) await expect(idsOf(store, 'Ada', order)).resolves.toEqual(['b']);
  database.proxy.fault = undefined;
  for (const order of ORDERS) await expect(idsOf(store, 'Ada', order)).resolves.toEqual(['b']);
  const { sessions, unreadable } = await store.list({ owner: 'Bo' });
  expect(sessions).toEqual([]);
  expect(unreadable).toMatchObject([{ sessionId: 'a', error: { code: 'STATE_FORMAT' } }]);
});

test('a list of an owner has every session while sessions move to more shards', async () => {
  const clock = testClock();
  const table = await database.newTable();
  const store = await database.newStore({ clock, table, shards: 2 });
  const ids = Array.from({ length: 6 }, (_, index) => `s${index}`);
  for (const id of ids.slice(0, 5)) await store.create(newSession(id, { owner: 'Ada' }));
  const raised = await database.newStore({ clock, table, shards: 5 });
  await raised.exists('s0');
  clock.time += 3 * MINUTE;
  await raised.create(newSession('s5', { owner: 'Ada' }));
  for (let moves = 0; moves < 6; moves++) {
    for (const each of [store, raised]) {
      await expect(idsOf(each, 'Ada', 'createdAt').then((found) => found.toSorted())).resolves.toEqual(ids);
    }
    await raised.prune({ limit: 1 });
  }
});

test('a store without the index of activity lists the sessions of an owner by creation only', async () => {
  const options = { isActivityListed: false };
  const table = await database.newTable(options);
  const store = await database.newStore({ ...options, table });
  await store.create(newSession('a', { owner: 'Ada' }));
  await expect(idsOf(store, 'Ada')).resolves.toEqual(['a']);
  await expect(idsOf(store, 'Ada', 'lastActiveAt')).rejects.toMatchObject({ code: 'ARGUMENT_INVALID' });
});

test('a text that is no owner selects no session', async () => {
  const store = await database.newStore();
  await store.create(newSession('a', { owner: '\ufffd' }));
  for (const owner of ['', '\ud800', 'x'.repeat(100_000)])
    await expect(idsOf(store, owner)).resolves.toEqual([]);
});
