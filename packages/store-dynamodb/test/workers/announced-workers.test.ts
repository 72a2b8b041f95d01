import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { randomBytes } from 'node:crypto';
import { START, testClock } from '@holdfast/conformance';
import { expect, test } from 'vitest';
import { itemsIn } from '../support/stored-items.ts';
import { testDatabase } from '../support/test-database.ts';

const database = testDatabase();
const named = (workerName: string, sessionIds: readonly string[] = []) => ({
  workerName,
  since: START,
  sessionIds,
});

test('prune deletes the workers whose time is over, and no worker that announces itself meanwhile', async () => {
  const clock = testClock();
  const table = await database.newTable();
  const store = await database.newStore({ table, clock });
  const LONG = 'l'.repeat(1_000);
  for (const name of ['Ada', 'Bo', LONG]) await store.announce(named(name), 60);
  await store.announce(named('Cy'), 120);
  clock.time += 60_000;
  await expect(itemsIn(database.client(), table, 'W')).resolves.toHaveLength(4);
  let isDone = false;
  database.proxy.fault = async ({ operation }, forward) => {
    if (operation === 'DeleteItem' && !isDone) {
      isDone = true;
      await store.announce(named('Bo', ['a']), 60);
    }
    return forward();
  };
  await expect(store.prune()).resolves.toBe(0);
  database.proxy.fault = undefined;
  const found = await store.workers();
  expect(found.map(({ workerName }) => workerName)).toEqual(['Bo', 'Cy']);
  await expect(itemsIn(database.client(), table, 'W')).resolves.toHaveLength(2);
});

test('a worker whose sessions do not fit into an item announces the first of them', async () => {
  const store = await database.newStore();
  const sessionIds = Array.from({ length: 1_000 }, () => randomBytes(500).toString('hex'));
  await store.announce(named('Ada', sessionIds), 60);
  const [worker] = await store.workers();
  expect(worker?.sessionIds.length).toBeGreaterThanOrEqual(250);
  expect(worker?.sessionIds).toEqual(sessionIds.slice(0, worker?.sessionIds.length));
});

test('workers are no sessions', async () => {
  const clock = testClock();
  const store = await database.newStore({ clock });
  for (const name of ['A', 'M', 'W', 'S#a']) await store.announce(named(name, ['a']), 60);
  clock.time += 1_000;
  for (const id of ['A', 'M', 'W', 'a']) await expect(store.exists(id)).resolves.toBe(false);
  await expect(store.list()).resolves.toMatchObject({ sessions: [] });
  await expect(store.due()).resolves.toMatchObject({ sessions: [] });
});

test('a damaged worker is omitted, and hides no other', async () => {
  const table = await database.newTable();
  const store = await database.newStore({ table });
  for (const name of ['Ada', 'Bo']) await store.announce(named(name), 60);
  const client = database.client();
  const item = (await itemsIn(client, table, 'W')).find(({ sk }) => sk?.S === 'S#Ada');
  await client.send(
    new PutItemCommand({ TableName: table, Item: { ...item, payload: { B: Buffer.from('?') } } }),
  );
  expect((await store.workers()).map(({ workerName }) => workerName)).toEqual(['Bo']);
});
