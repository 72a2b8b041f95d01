import { randomInt } from 'node:crypto';
import { newSession, withFact } from '@holdfast/conformance';
import type { AgentSession } from '@holdfast/core';
import { expect, test } from 'vitest';
import { itemBytes, MAX_ITEM_BYTES } from '../../src/table/item.ts';
import { MB, noise, talkative } from '../support/large-sessions.ts';
import { itemsOf } from '../support/stored-items.ts';
import { testDatabase } from '../support/test-database.ts';

const database = testDatabase();

/** The longest id of an inbox item, with characters that deflate hardly shortens. */
function longId(): string {
  return Array.from({ length: 1_000 }, () => String.fromCodePoint(randomInt(0x4e00, 0x9fa5))).join('');
}

test('a session of 30 MB is saved, loaded and deleted as a whole', async () => {
  const table = await database.newTable();
  const store = await database.newStore({ table });
  const created = await store.create(talkative(newSession('a'), 300, 100_000));
  const saved = await store.save(withFact(created, 'n', 1), { base: created });
  const loaded = await store.load('a');
  expect(JSON.stringify(loaded)).toBe(JSON.stringify(saved));
  expect(JSON.stringify(loaded).length).toBeGreaterThan(30 * MB);
  const items = await itemsOf(database.client(), table, 'a');
  for (const item of items) expect(itemBytes(item)).toBeLessThan(MAX_ITEM_BYTES - 40_000);
  await expect(store.delete('a')).resolves.toBe(true);
  await expect(itemsOf(database.client(), table, 'a')).resolves.toEqual([]);
});

test('a reader reads again when the log was replaced between two pages', async () => {
  const table = await database.newTable();
  const [store, other] = [await database.newStore({ table }), await database.newStore({ table })];
  const base = await store.create(talkative(newSession('a'), 4, MB));
  let saving: Promise<AgentSession> | undefined;
  database.proxy.fault = async ({ operation }, forward) => {
    const reply = await forward();
    if (operation === 'Query' && saving === undefined) {
      saving = other.save(withFact(base, 'n', 1));
      await saving;
    }
    return reply;
  };
  const loaded = await store.load('a');
  expect(loaded?.version).toBe(2);
  expect(JSON.stringify(loaded)).toBe(JSON.stringify(await saving));
});

test('a value beyond the limit is refused before the first request', async () => {
  const store = await database.newStore();
  const limit = store.capabilities.maxValueBytes ?? 0;
  const base = await store.create(newSession('a'));
  const before = database.proxy.operations.length;
  const tooLarge = withFact(base, 'text', 'x'.repeat(limit));
  const refused = { code: 'SESSION_TOO_LARGE', data: { limit } };
  await expect(store.save(tooLarge, { base })).rejects.toMatchObject(refused);
  expect(database.proxy.operations).toHaveLength(before);
  await expect(store.load('a')).resolves.toEqual(base);
});

test('a header beyond the limit is refused before the first write', async () => {
  const store = await database.newStore();
  await store.exists('a'); // the first requests of a store
  const before = database.proxy.operations.length;
  const creating = store.create(newSession('a', { definition: { name: noise(600_000) } }));
  const refused = { code: 'SESSION_TOO_LARGE', data: { limit: MAX_ITEM_BYTES } };
  await expect(creating).rejects.toMatchObject(refused);
  expect(database.proxy.operations).toHaveLength(before);
});

test('long item ids do not enlarge the header', async () => {
  const table = await database.newTable();
  const store = await database.newStore({ table });
  await store.create(newSession('a'));
  const ids = Array.from({ length: 100 }, longId);
  for (const id of ids) await store.enqueue('a', { id, content: null });
  const [header = {}] = await itemsOf(database.client(), table, 'a');
  expect(itemBytes(header)).toBeLessThan(700);
  const { inbox } = await store.claim('a', { workerId: 'Ada', leaseSeconds: 60 });
  expect(inbox.map(({ id }) => id)).toEqual(ids);
});

test('a session whose header has no room for work refuses items, and can be claimed and saved', async () => {
  const store = await database.newStore();
  const created = await store.create(newSession('a', { definition: { name: noise(538_000) } }));
  const refused = { code: 'SESSION_TOO_LARGE', data: { limit: MAX_ITEM_BYTES } };
  await expect(store.enqueue('a', { id: 'i', content: null })).rejects.toMatchObject(refused);
  const { inbox, session, claim } = await store.claim('a', { workerId: longId(), leaseSeconds: 60 });
  expect([inbox, session.state]).toEqual([[], created.state]);
  const options = { base: session, operationId: 'first', epoch: claim.epoch };
  await expect(store.save(session, options)).resolves.toMatchObject({ version: 2 });
});
