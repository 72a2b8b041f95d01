import { randomBytes } from 'node:crypto';
import { newSession, testClock, withFact } from '@holdfast/conformance';
import type { AgentSession } from '@holdfast/core';
import { expect, test } from 'vitest';
import { FileBlobs } from '../support/file-blobs.ts';
import { itemsOf, keysOf } from '../support/stored-items.ts';
import { testBlobs } from '../support/test-blobs.ts';
import { testDatabase } from '../support/test-database.ts';

const database = testDatabase();
const MB = 1_000_000;
const DAY = 86_400_000;

/** A text that deflate hardly shortens. */
function noise(length: number): string {
  return randomBytes(length).toString('base64').slice(0, length);
}

test('the table stores only a reference to a value of 30 MB', async () => {
  const { blobs } = testBlobs();
  const store = await database.newStore({ blobs: { store: blobs } });
  expect(store.capabilities.maxValueBytes).toBeUndefined();
  const base = await store.create(newSession('a'));
  const before = { ...database.proxy.cost };
  const saved = await store.save(withFact(base, 'text', noise(30 * MB)), { base });
  const written = { ...database.proxy.cost };
  expect(written.requests - before.requests).toBe(2);
  expect(written.bytes - before.bytes).toBeLessThan(3_000);
  expect(blobs.operations).toEqual(['put']);

  const loaded = await store.load('a');
  expect(database.proxy.cost.requests - written.requests).toBe(1);
  expect(database.proxy.cost.bytes - written.bytes).toBeLessThan(4_000);
  expect(blobs.operations).toEqual(['put', 'get']);
  expect(JSON.stringify(loaded)).toBe(JSON.stringify(saved));
});

test('a value beyond the limit of the table is saved as a blob', async () => {
  const { blobs } = testBlobs();
  const store = await database.newStore({ blobs: { store: blobs } });
  const base = await store.create(newSession('a'));
  const saved = await store.save(withFact(base, 'text', 'x'.repeat(65 * 1024 * 1024)), { base });
  const loaded = await store.load('a');
  expect(loaded?.state.metadata.get('text') === saved.state.metadata.get('text')).toBe(true);
});

test('minBytes counts the bytes of JSON', async () => {
  const { blobs } = testBlobs();
  const store = await database.newStore({ blobs: { store: blobs, minBytes: 1_000 } });
  const base = await store.create(newSession('a'));
  const fact = (text: string): AgentSession => withFact(base, 'text', text);
  const frame = Buffer.byteLength(JSON.stringify({ text: '' }));
  const below = await store.save(fact('x'.repeat(999 - frame)), { base });
  await expect(blobs.keys()).resolves.toEqual([]);
  const next = withFact(below, 'text', `é${'x'.repeat(998 - frame)}`);
  const saved = await store.save(next, { base: below });
  await expect(blobs.keys()).resolves.toHaveLength(1);
  await expect(store.load('a')).resolves.toEqual(saved);
});

test('without large values, a store with blobs writes the same as a store without', async () => {
  const [table, other] = [await database.newTable(), await database.newTable()];
  const { blobs } = testBlobs();
  const costs = [];
  for (const options of [{ table }, { table: other, blobs: { store: blobs } }]) {
    const store = await database.newStore({ clock: testClock(), ...options });
    const before = { ...database.proxy.cost };
    const base = await store.create(newSession('a'));
    await store.save(withFact(base, 'text', 'x'.repeat(100_000)), { base });
    await store.load('a');
    const { requests, bytes } = database.proxy.cost;
    costs.push({ requests: requests - before.requests, bytes: bytes - before.bytes });
  }
  const [plain, optional] = costs;
  expect(optional?.requests).toBe(plain?.requests);
  // The deflated sizes differ, because some of the text is random.
  expect(Math.abs((optional?.bytes ?? 0) - (plain?.bytes ?? 0))).toBeLessThan(50);
});

test('a compaction reuses the blobs in use, and deletes those that were replaced', async () => {
  const clock = testClock();
  const table = await database.newTable();
  const { blobs } = testBlobs();
  const store = await database.newStore({
    table,
    clock,
    compactAfterSaves: 3,
    blobs: { store: blobs, minBytes: 2_000 },
  });
  let session = await store.create(newSession('a'));
  const save = async (next: AgentSession): Promise<void> => {
    session = await store.save(next, { base: session });
  };
  await save(session.withState(session.state.withUserMessage(noise(5_000))));
  await save(withFact(session, 'text', noise(5_000)));
  await save(withFact(session, 'text', noise(5_000)));
  await expect(blobs.keys()).resolves.toHaveLength(2);
  expect(blobs.operations).toEqual(['put', 'put', 'put', 'delete']);
  await save(withFact(session, 'text', 'short'));
  await expect(blobs.keys()).resolves.toHaveLength(2);
  for (let count = 0; count < 6; count++) await save(withFact(session, 'count', noise(1_000)));
  await expect(blobs.keys()).resolves.toHaveLength(1);
  expect(blobs.operations).not.toContain('get');
  clock.time += DAY;
  await store.prune();
  expect(blobs.operations).not.toContain('get');
  await expect(keysOf(database.client(), table, 'a', 'B')).resolves.toHaveLength(1);
  await expect(store.load('a')).resolves.toEqual(session);
});

test('blobs that are replaced again and again lead to compactions', async () => {
  const { blobs } = testBlobs();
  const store = await database.newStore({ compactAfterSaves: 3, blobs: { store: blobs, minBytes: 5_000 } });
  let session = await store.create(withFact(newSession('a'), 'text', noise(10_000)));
  for (let count = 0; count < 10; count++) {
    const next = session.withState(session.state.withUserMessage(noise(2_000)));
    session = await store.save(next, { base: session });
  }
  for (let count = 0; count < 20; count++) {
    session = await store.save(withFact(session, 'text', noise(10_000)), { base: session });
    expect((await blobs.keys()).length).toBeLessThan(6);
  }
  await expect(store.load('a')).resolves.toEqual(session);
});

test('a save without a base puts only new blobs', async () => {
  const { blobs } = testBlobs();
  const store = await database.newStore({ blobs: { store: blobs, minBytes: 2_000 } });
  const base = await store.create(newSession('a'));
  const both = withFact(base, 'text', noise(5_000));
  const first = await store.save(both.withState(both.state.withUserMessage(noise(5_000))), { base });
  const saved = await store.save(withFact(first, 'text', noise(5_000)));
  expect(blobs.operations).toEqual(['put', 'put', 'put', 'delete']);
  await expect(blobs.keys()).resolves.toHaveLength(2);
  await expect(store.load('a')).resolves.toEqual(saved);
});

test('two sessions with the same values have blobs of their own, which are deleted with their session', async () => {
  const clock = testClock();
  const table = await database.newTable();
  const { blobs } = testBlobs();
  const store = await database.newStore({ table, clock, blobs: { store: blobs, minBytes: 2_000 } });
  const text = noise(5_000);
  await store.create(withFact(newSession('a'), 'text', text));
  const other = await store.create(withFact(newSession('b'), 'text', text));
  await expect(blobs.keys()).resolves.toHaveLength(2);
  await store.delete('a');
  await expect(blobs.keys()).resolves.toHaveLength(1);
  await expect(store.load('b')).resolves.toEqual(other);
  // The note of a blob stays for a day longer than the blob, because its writer may have been slow.
  await expect(keysOf(database.client(), table, 'a', 'B')).resolves.toHaveLength(1);
  clock.time += DAY;
  await store.prune();
  await expect(itemsOf(database.client(), table, 'a')).resolves.toEqual([]);
  await expect(store.load('b')).resolves.toEqual(other);
  await store.delete('b');
  await expect(blobs.keys()).resolves.toEqual([]);
  await expect(itemsOf(database.client(), table, 'b')).resolves.toEqual([]);
});

test('the blobs of an expired session are deleted with it, by prune and by a creation under the same id', async () => {
  const clock = testClock();
  const { blobs } = testBlobs();
  const expiry = { afterSeconds: 60 };
  const store = await database.newStore({ clock, expiry, blobs: { store: blobs, minBytes: 2_000 } });
  for (const id of ['a', 'b']) await store.create(withFact(newSession(id), 'text', noise(5_000)));
  await expect(blobs.keys()).resolves.toHaveLength(2);
  clock.time += 60_000;
  await store.create(newSession('a'));
  await expect(blobs.keys()).resolves.toHaveLength(1);
  await expect(store.prune()).resolves.toBe(1);
  await expect(blobs.keys()).resolves.toEqual([]);
});

test('a large inbox item is a blob until a worker uses it', async () => {
  const table = await database.newTable();
  const { blobs } = testBlobs();
  const store = await database.newStore({ table, blobs: { store: blobs, minBytes: 2_000 } });
  await store.create(newSession('a'));
  const content = noise(5_000);
  await store.enqueue('a', { id: 'large', content });
  await store.enqueue('a', { id: 'small', content: 1 });
  await expect(blobs.keys()).resolves.toHaveLength(1);
  const { session, claim, inbox } = await store.claim('a', { workerId: 'Ada', leaseSeconds: 60 });
  expect(inbox).toMatchObject([{ content }, { content: 1 }]);
  const renewed = await store.renew(claim, { leaseSeconds: 60 });
  expect(renewed.inbox).toEqual(inbox);
  // A compaction does not touch the inbox.
  const saved = await store.save(session, { epoch: claim.epoch });
  await expect(store.renew(claim, { leaseSeconds: 60 })).resolves.toMatchObject({ inbox });
  await store.save(saved, { base: saved, epoch: claim.epoch, acknowledge: inbox.slice(0, 1) });
  await expect(blobs.keys()).resolves.toEqual([]);
  await expect(keysOf(database.client(), table, 'a', 'B')).resolves.toEqual([]);
});

test('a refused writer deletes its blobs', async () => {
  const table = await database.newTable();
  const { blobs } = testBlobs();
  const options = { table, blobs: { store: blobs, minBytes: 2_000 } };
  const store = await database.newStore(options);
  const other = await database.newStore(options);
  const base = await store.create(newSession('a'));
  database.proxy.fault = async ({ operation }, forward) => {
    database.proxy.fault = undefined;
    expect(operation).toBe('BatchWriteItem');
    await other.save(withFact(base, 'n', 1));
    return forward();
  };
  const saving = store.save(withFact(base, 'text', noise(5_000)), { base });
  await expect(saving).rejects.toMatchObject({ kind: 'stale' });
  expect(blobs.operations).toEqual(['put', 'delete']);
  await expect(blobs.keys()).resolves.toEqual([]);
  await expect(keysOf(database.client(), table, 'a', 'B')).resolves.toEqual([]);
});

test('a reader reads again when a blob was replaced during its read', async () => {
  const table = await database.newTable();
  const { blobs, folder } = testBlobs();
  const other = new FileBlobs(folder);
  const store = await database.newStore({ table, blobs: { store: blobs, minBytes: 2_000 } });
  const writer = await database.newStore({ table, blobs: { store: other, minBytes: 2_000 } });
  const base = await store.create(withFact(newSession('a'), 'text', noise(5_000)));
  let saved: AgentSession | undefined;
  blobs.fault = async () => {
    saved ??= await writer.save(withFact(base, 'text', noise(5_000)));
  };
  const loaded = await store.load('a');
  expect(loaded?.version).toBe(2);
  expect(loaded).toEqual(saved);
  expect(blobs.operations).toEqual(['put', 'get', 'get']);
});
