import { newSession, testClock } from '@holdfast/conformance';
import { expect, test } from 'vitest';
import { freezeIndexes } from '../support/frozen-indexes.ts';
import { testDatabase } from '../support/test-database.ts';

const database = testDatabase();

test('a list returns current sessions only, although the index lags', async () => {
  const clock = testClock();
  const store = await database.newStore({ clock });
  for (const id of ['a', 'b', 'c', 'd']) {
    await store.create(newSession(id, { at: clock.time }));
    clock.time += 1_000;
  }
  const idsBy = async (order: 'createdAt' | 'lastActiveAt'): Promise<string[]> =>
    (await store.list({ order })).sessions.map(({ sessionId }) => sessionId);
  freezeIndexes(database);
  await expect(idsBy('createdAt')).resolves.toEqual(['d', 'c', 'b', 'a']);
  await expect(idsBy('lastActiveAt')).resolves.toEqual(['d', 'c', 'b', 'a']);

  await store.delete('c');
  const b = await store.load('b');
  if (b) await store.save(b.withStatus('completed'), { base: b });
  const { sessions } = await store.list();
  expect(sessions.map(({ sessionId, status }) => [sessionId, status])).toEqual([
    ['d', 'active'],
    ['b', 'completed'],
    ['a', 'active'],
  ]);
  await expect(idsBy('lastActiveAt')).resolves.toEqual(['d', 'a']);
  database.proxy.fault = undefined;
  await expect(idsBy('lastActiveAt')).resolves.toEqual(['b', 'd', 'a']);
});

test('due returns due sessions only, although the index lags', async () => {
  const clock = testClock();
  const store = await database.newStore({ clock });
  for (const id of ['a', 'b']) {
    await store.create(newSession(id));
    await store.enqueue(id, { id: 'i', content: 1 });
  }
  freezeIndexes(database);
  const dueIds = async (): Promise<string[]> =>
    (await store.due()).sessions.map(({ sessionId }) => sessionId);
  await expect(dueIds()).resolves.toEqual(['a', 'b']);
  await store.claim('a', { workerId: 'Ada', leaseSeconds: 60 });
  await expect(dueIds()).resolves.toEqual(['b']);
});

test('long ids with the same beginning and instant are in order over several pages', async () => {
  const clock = testClock();
  const store = await database.newStore({ clock });
  const ids = ['e', 'b', 'd', 'a', 'c'].map((end) => 'x'.repeat(200) + end);
  for (const id of ids) await store.create(newSession(id));
  const pages: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.list({ limit: 2, cursor });
    pages.push(...page.sessions.map(({ sessionId }) => sessionId));
    ({ cursor } = page);
  } while (cursor);
  expect(pages).toEqual(ids.toSorted());
});

test('invented cursors are bounded or refused', async () => {
  const store = await database.newStore();
  await store.create(newSession('a'));
  for (const moment of ['1e999', '-1e300', '1.5']) {
    const cursor = `["createdAt",${moment},""]`;
    await expect(store.list({ cursor })).rejects.toMatchObject({ code: 'ARGUMENT_INVALID' });
  }
  const { MAX_SAFE_INTEGER: most, MIN_SAFE_INTEGER: least } = Number;
  const pages = [most, least].map((at) => store.list({ cursor: JSON.stringify(['createdAt', at, 'a']) }));
  expect((await Promise.all(pages)).map(({ sessions }) => sessions.length)).toEqual([1, 0]);
});

test('a store without the index of activity refuses its order, and saves write no index', async () => {
  const clock = testClock();
  const options = { isActivityListed: false };
  const table = await database.newTable(options);
  const store = await database.newStore({ ...options, table, clock });
  const base = await store.create(newSession('a'));
  clock.time += 1_000;
  const saved = await store.save(base, { base });
  await expect(store.list({ order: 'lastActiveAt' })).rejects.toMatchObject({ code: 'ARGUMENT_INVALID' });
  await expect(store.list()).resolves.toMatchObject({ sessions: [saved.info] });
});

test('prune checks a sliding expiry at its first instant, and moves the index entry to the new one', async () => {
  const clock = testClock();
  const store = await database.newStore({ clock, expiry: { afterSeconds: 60 } });
  let session = await store.create(newSession('a'));
  for (let count = 0; count < 3; count++) {
    clock.time += 30_000;
    session = await store.save(session, { base: session });
  }
  const operations = async (): Promise<string[]> => {
    const before = database.proxy.operations.length;
    await expect(store.prune()).resolves.toBe(0);
    return database.proxy.operations.slice(before).filter((operation) => operation !== 'Query');
  };
  await expect(operations()).resolves.toEqual(['GetItem', 'UpdateItem']);
  await expect(operations()).resolves.toEqual([]);
  await expect(store.load('a')).resolves.toEqual(session);
  clock.time += 60_000;
  await expect(store.prune()).resolves.toBe(1);
});
