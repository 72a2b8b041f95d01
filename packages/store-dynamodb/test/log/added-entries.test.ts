import { newSession, withFact, type StoreCost } from '@holdfast/conformance';
import type { AgentSession, SessionStore } from '@holdfast/core';
import { expect, test } from 'vitest';
import { testBlobs } from '../support/test-blobs.ts';
import { testDatabase } from '../support/test-database.ts';
import { isFlip } from '../support/stored-items.ts';

const database = testDatabase();

/** Saves a session with further messages, one at a time. */
async function converse(
  store: SessionStore,
  begin: AgentSession,
  texts: readonly string[],
): Promise<AgentSession> {
  let session = begin;
  for (const text of texts)
    session = await store.save(session.withState(session.state.withUserMessage(text)), { base: session });
  return session;
}

const numbered = (count: number): string[] => Array.from({ length: count }, (_, index) => `message ${index}`);

/** Loads a session with a base, and returns what that cost. The session must equal one that is loaded without a base. */
async function costOfLoad(store: SessionStore, base: AgentSession): Promise<StoreCost> {
  const { sessionId } = base;
  const before = { ...database.proxy.cost };
  const loaded = await store.load(sessionId, { base });
  const { requests, bytes } = database.proxy.cost;
  expect(loaded?.toJSON()).toEqual((await store.load(sessionId))?.toJSON());
  return { requests: requests - before.requests, bytes: bytes - before.bytes };
}

test('a load with an outdated base reads the header and the entries that were added', async () => {
  const costs: StoreCost[] = [];
  for (const length of [10, 100]) {
    const store = await database.newStore();
    const first = await store.create(newSession(`${length}`));
    const base = await converse(store, first, numbered(length));
    await converse(store, base, numbered(5));
    costs.push(await costOfLoad(store, base));
  }
  const [short, long] = costs;
  expect(costs.map(({ requests }) => requests)).toEqual([2, 2]);
  expect(long?.bytes).toBeLessThan(1.1 * (short?.bytes ?? 0));
});

test('a head that is too long for the header is read from the last entry', async () => {
  const store = await database.newStore();
  const base = await converse(store, await store.create(newSession('a')), numbered(3));
  await converse(store, base, ['longer '.repeat(2_000)]);
  await expect(costOfLoad(store, base)).resolves.toMatchObject({ requests: 2 });
});

test('values that became blobs are read with the entries', async () => {
  const { blobs } = testBlobs();
  const store = await database.newStore({ blobs: { store: blobs, minBytes: 2_000 } });
  const base = await converse(store, await store.create(newSession('a')), ['x'.repeat(3_000)]);
  await converse(store, base, ['y'.repeat(3_000), 'z'.repeat(3_000)]);
  await expect(costOfLoad(store, base)).resolves.toMatchObject({ requests: 2 });
});

test('entries of a writer that died are ignored', async () => {
  const store = await database.newStore({ maxAttempts: 1 });
  const base = await store.create(newSession('a'));
  database.proxy.fault = async (request, forward) => (isFlip(request) ? 'cut' : forward());
  await expect(store.save(withFact(base, 'n', 1), { base })).rejects.toMatchObject({ isAmbiguous: true });
  database.proxy.fault = undefined;
  await converse(store, base, ['one', 'two']);
  await expect(costOfLoad(store, base)).resolves.toMatchObject({ requests: 2 });
});

test('after a compaction, a truncation or a creation anew, all is read', async () => {
  const table = await database.newTable();
  const store = await database.newStore({ table });
  const other = await database.newStore({ table });
  const base = await converse(store, await store.create(newSession('a')), numbered(5));

  const { state } = base;
  const cut = base.withState(state.withMessages(state.messages.slice(0, 2)));
  const shorter = await store.save(cut, { base });
  const longer = await converse(store, shorter, numbered(9));
  await expect(costOfLoad(store, base)).resolves.toMatchObject({ requests: 3 });

  const anew = await other.save(withFact(longer, 'n', 1)); // without a base: a new segment
  await expect(costOfLoad(store, longer)).resolves.toMatchObject({ requests: 2 });

  await other.delete('a');
  await converse(other, await other.create(newSession('a')), numbered(20));
  await expect(costOfLoad(store, anew)).resolves.toMatchObject({ requests: 1 }); // another store returned the base
  await expect(costOfLoad(other, anew)).resolves.toMatchObject({ requests: 2 });
});
