import { randomBytes } from 'node:crypto';
import { newSession, withFact, type StoreCost } from '@holdfast/conformance';
import type { AgentSession, SessionStore } from '@holdfast/core';
import { expect, test } from 'vitest';
import { isFlip, itemsOf, keysOf } from '../support/stored-items.ts';
import { testDatabase } from '../support/test-database.ts';

const database = testDatabase();

/** Saves a session `count` times, each time with a new message. Returns the last session and the cost of each save. */
async function converse(
  store: SessionStore,
  begin: AgentSession,
  saves: number,
): Promise<{ readonly session: AgentSession; readonly costs: readonly StoreCost[] }> {
  let session = begin;
  const costs: StoreCost[] = [];
  for (let count = 0; count < saves; count++) {
    const before = { ...database.proxy.cost };
    const next = session.withState(session.state.withUserMessage(randomBytes(400).toString('base64')));
    session = await store.save(next, { base: session });
    const { requests, bytes } = database.proxy.cost;
    costs.push({ requests: requests - before.requests, bytes: bytes - before.bytes });
  }
  return { session, costs };
}

const sum = (costs: readonly StoreCost[]): number => costs.reduce((total, { bytes }) => total + bytes, 0);

test('compactions are rare, and their cost is bounded by the size of the added entries', async () => {
  const table = await database.newTable();
  const store = await database.newStore({ table, compactAfterSaves: 20 });
  const { session, costs } = await converse(store, await store.create(newSession('a')), 400);

  const isPlain = ({ requests }: StoreCost): boolean => requests === 2;
  const plain = costs.filter(isPlain);
  const [first, last] = [plain.slice(0, 10), plain.slice(-10)];
  expect(Math.abs(sum(last) - sum(first))).toBeLessThan(0.1 * sum(first));

  // At each compaction the log is twice as long as at the last one.
  const anew = costs.flatMap((cost, index) => (isPlain(cost) ? [] : [index]));
  expect(anew.length).toBeGreaterThanOrEqual(4);
  expect(anew.length).toBeLessThanOrEqual(6);
  const flat = (sum(first) / 10) * costs.length;
  expect(sum(costs)).toBeLessThan(4 * flat);

  await expect(store.load('a')).resolves.toEqual(session);
  const keys = await keysOf(database.client(), table, 'a', 'E');
  expect(new Set(keys.map((key) => key.split('#')[2])).size).toBe(1);
  expect(keys.length).toBe(costs.length - (anew.at(-1) ?? 0));
});

test('a save without a base begins a new segment, and deletes the old one', async () => {
  const table = await database.newTable();
  const store = await database.newStore({ table });
  const { session } = await converse(store, await store.create(newSession('a')), 5);
  const saved = await store.save(withFact(session, 'n', 1));
  await expect(keysOf(database.client(), table, 'a', 'E')).resolves.toHaveLength(1);
  await expect(store.load('a')).resolves.toEqual(saved);
});

test('another writer during a compaction is refused, or causes the compaction to be refused', async () => {
  const table = await database.newTable();
  const stores = await Promise.all([1, 2, 3].map(() => database.newStore({ table, compactAfterSaves: 1 })));
  const [store] = stores;
  await store?.create(newSession('a'));
  let saved = 0;
  for (let round = 0; round < 10; round++) {
    const saves = await Promise.allSettled(
      stores.map(async (each) => {
        const base = await each.load('a');
        return base && (await each.save(base.withState(base.state.withUserMessage(`${round}`)), { base }));
      }),
    );
    saved += saves.filter(({ status }) => status === 'fulfilled').length;
  }
  const loaded = await store?.load('a');
  expect(saved).toBeGreaterThanOrEqual(10);
  expect(loaded?.version).toBe(1 + saved);
  expect(loaded?.state.messages.length).toBe(saved);
});

test('the entries of a writer that died are deleted with their segment', async () => {
  const table = await database.newTable();
  const store = await database.newStore({ table, maxAttempts: 1 });
  const base = await store.create(newSession('a'));
  database.proxy.fault = async (request, forward) => (isFlip(request) ? 'cut' : forward());
  await expect(store.save(withFact(base, 'n', 1), { base })).rejects.toMatchObject({ isAmbiguous: true });
  database.proxy.fault = undefined;
  await expect(itemsOf(database.client(), table, 'a')).resolves.toHaveLength(3);
  await store.save(withFact(base, 'n', 2));
  await expect(itemsOf(database.client(), table, 'a')).resolves.toHaveLength(2);
});
