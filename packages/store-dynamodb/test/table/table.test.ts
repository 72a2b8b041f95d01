import { newSession } from '@holdfast/conformance';
import { systemClock, type JsonObject } from '@holdfast/core';
import { expect, test } from 'vitest';
import { MB, talkative } from '../support/large-sessions.ts';
import { testDatabase } from '../support/test-database.ts';

const database = testDatabase();

test('unprocessed items are written again', async () => {
  const clock = { ...systemClock, after: atOnce };
  const store = await database.newStore({ clock });
  let left = 0;
  database.proxy.fault = async ({ operation, body }, forward) => {
    if (operation !== 'BatchWriteItem') return forward();
    const [table = ''] = Object.keys(Object(body['RequestItems']));
    const requests = (body['RequestItems'] as Record<string, JsonObject[]>)[table] ?? [];
    const [first, ...others] = requests;
    if (first === undefined || others.length === 0) return forward();
    left += others.length;
    const { status } = await forward({ ...body, RequestItems: { [table]: [first] } });
    return { status, body: JSON.stringify({ UnprocessedItems: { [table]: others } }) };
  };
  const created = await store.create(talkative(newSession('a'), 1, 2 * MB));
  expect(left).toBeGreaterThan(5);
  await expect(store.load('a')).resolves.toEqual(created);
});

test('items that stay unprocessed fail the write, and the session does not exist', async () => {
  const clock = { ...systemClock, after: atOnce };
  const store = await database.newStore({ clock });
  database.proxy.fault = async ({ operation, body }, forward) => {
    if (operation !== 'BatchWriteItem') return forward();
    return { status: 200, body: JSON.stringify({ UnprocessedItems: body['RequestItems'] ?? {} }) };
  };
  const creating = store.create(talkative(newSession('a'), 1, MB));
  await expect(creating).rejects.toMatchObject({ code: 'STORE_THROTTLED' });
  database.proxy.fault = undefined;
  await expect(store.exists('a')).resolves.toBe(false);
});

test('unprocessed headers are read again', async () => {
  const clock = { ...systemClock, after: atOnce };
  const store = await database.newStore({ clock });
  for (const id of ['a', 'b', 'c']) await store.create(newSession(id));
  let reads = 0;
  database.proxy.fault = async ({ operation, body }, forward) => {
    if (operation !== 'BatchGetItem' || ++reads > 2) return forward();
    return {
      status: 200,
      body: JSON.stringify({ Responses: {}, UnprocessedKeys: body['RequestItems'] ?? {} }),
    };
  };
  const { sessions } = await store.list();
  expect(sessions.map(({ sessionId }) => sessionId)).toEqual(['a', 'b', 'c']);
  expect(reads).toBe(3);
});

function atOnce(_: number, callback: () => void): () => void {
  const timer = setImmediate(callback);
  return () => clearImmediate(timer);
}
