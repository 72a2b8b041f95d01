import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { newSession, testClock, withFact } from '@holdfast/conformance';
import { systemClock } from '@holdfast/core';
import type { DynamoDbSessionStore } from '@holdfast/store-dynamodb';
import { expect, test } from 'vitest';
import { isFlip, itemsOf, keysOf } from '../support/stored-items.ts';
import { testBlobs } from '../support/test-blobs.ts';
import { testDatabase } from '../support/test-database.ts';

const database = testDatabase();
const SAVE = fileURLToPath(new URL('../children/save-blob.ts', import.meta.url));
const DAY = 86_400_000;
const LARGE = 'x'.repeat(5_000);

test('prune deletes a blob a day after its writer was killed before the flip', async () => {
  const table = await database.newTable();
  const { blobs, folder } = testBlobs();
  const options = { table, blobs: { store: blobs, minBytes: 2_000 } };
  const store = await database.newStore(options);
  const base = await store.create(withFact(newSession('victim'), 'text', LARGE));
  const before = await blobs.keys();
  const { endpoint } = database.proxy;
  const flags = ['--conditions=@holdfast/source', '--no-warnings'];
  const child = spawn(process.execPath, [...flags, SAVE, endpoint, table, folder]);
  const exited = once(child, 'exit');
  const there: string[][] = [];
  database.proxy.fault = async (request, forward) => {
    if (!isFlip(request)) return forward();
    there.push(await blobs.keys());
    child.kill('SIGKILL');
    return 'cut';
  };
  const [, signal] = (await exited) as [number | null, string | null];
  database.proxy.fault = undefined;
  expect(signal).toBe('SIGKILL');
  // The blob was put before the header that names it.
  expect(there.map((keys) => keys.length)).toEqual([2]);
  await expect(store.load('victim')).resolves.toEqual(base);

  const client = database.client();
  await store.prune();
  await expect(blobs.keys()).resolves.toHaveLength(2);
  const later = { ...systemClock, now: () => Date.now() + DAY };
  const sweeper = await database.newStore({ ...options, clock: later });
  await sweeper.prune();
  await expect(blobs.keys()).resolves.toEqual(before);
  await expect(keysOf(client, table, 'victim', 'B')).resolves.toHaveLength(1);
  await expect(store.load('victim')).resolves.toEqual(base);
  const saved = await store.save(base.withState(base.state.withUserMessage('Kept')), { base });
  await expect(store.load('victim')).resolves.toEqual(saved);
  await store.delete('victim');
  await expect(blobs.keys()).resolves.toEqual([]);
  await expect(itemsOf(client, table, 'victim')).resolves.toEqual([]);
});

interface Leftover {
  readonly table: string;
  readonly clock: ReturnType<typeof testClock>;
  readonly blobs: ReturnType<typeof testBlobs>['blobs'];
  readonly store: DynamoDbSessionStore;
}

/**
 * Expects that a store with blobs sweeps the items of session "a" after a day, and that a store without blobs does not.
 */
async function expectSweptAway({ table, clock, blobs, store }: Leftover): Promise<void> {
  await expect(blobs.keys()).resolves.toHaveLength(1);
  clock.time += DAY;
  await (await database.newStore({ table, clock })).prune();
  await expect(blobs.keys()).resolves.toHaveLength(1);
  await store.prune();
  await expect(blobs.keys()).resolves.toEqual([]);
  await expect(itemsOf(database.client(), table, 'a')).resolves.toEqual([]);
}

test('prune deletes the blobs of a creation that died before its flip', async () => {
  const clock = testClock();
  const table = await database.newTable();
  const { blobs } = testBlobs();
  const options = { table, clock, blobs: { store: blobs, minBytes: 2_000 } };
  const store = await database.newStore({ ...options, maxAttempts: 1 });
  database.proxy.fault = async (request, forward) => (isFlip(request) ? 'cut' : forward());
  const creating = store.create(withFact(newSession('a'), 'text', LARGE));
  await expect(creating).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  database.proxy.fault = undefined;
  await expectSweptAway({ table, clock, blobs, store });
});

test('prune of a store with blobs deletes the blobs of a session whose deletion died', async () => {
  const clock = testClock();
  const table = await database.newTable();
  const { blobs } = testBlobs();
  const options = { table, clock, blobs: { store: blobs, minBytes: 2_000 } };
  const store = await database.newStore({ ...options, maxAttempts: 1 });
  await store.create(withFact(newSession('a'), 'text', LARGE));
  // After a day `prune` no longer examines the blob by its own note.
  clock.time += DAY;
  await store.prune();
  database.proxy.fault = async ({ operation }, forward) =>
    operation === 'BatchWriteItem' ? 'cut' : forward();
  await expect(store.delete('a')).resolves.toBe(true);
  database.proxy.fault = undefined;
  await expectSweptAway({ table, clock, blobs, store });
});

test('prune examines a blob in use once, and does not delete it', async () => {
  const clock = testClock();
  const { blobs } = testBlobs();
  const store = await database.newStore({ clock, blobs: { store: blobs, minBytes: 2_000 } });
  await store.create(newSession('a'));
  await store.enqueue('a', { id: 'i', content: LARGE });
  const base = await store.load('a');
  if (base === undefined) throw new Error('The session is missing.');
  const saved = await store.save(withFact(base, 'text', LARGE), { base });
  clock.time += DAY;
  await store.prune();
  const { length } = database.proxy.operations;
  await store.prune();
  expect(database.proxy.operations.slice(length)).not.toContain('GetItem');
  await expect(store.load('a')).resolves.toEqual(saved);
  const { inbox } = await store.claim('a', { workerId: 'Ada', leaseSeconds: 60 });
  expect(inbox).toMatchObject([{ content: LARGE }]);
});

/** Enqueues a large item, and dies after the put of its blob and before the write of the header. */
async function enqueueAndDie(store: DynamoDbSessionStore): Promise<void> {
  database.proxy.fault = async (request, forward) => (isFlip(request) ? 'cut' : forward());
  const dying = store.enqueue('a', { id: 'lost', content: LARGE });
  await expect(dying).rejects.toMatchObject({ isAmbiguous: true });
  database.proxy.fault = undefined;
}

test('the blob of an inbox item whose writer died is deleted when its position is used, or with its session', async () => {
  const clock = testClock();
  const table = await database.newTable();
  const { blobs } = testBlobs();
  const options = { table, clock, blobs: { store: blobs, minBytes: 2_000 } };
  const [store, plain] = [await database.newStore(options), await database.newStore({ table, clock })];
  const dying = await database.newStore({ ...options, maxAttempts: 1 });
  const base = await store.create(newSession('a'));
  await enqueueAndDie(dying);
  await expect(blobs.keys()).resolves.toHaveLength(1);
  clock.time += DAY;
  await plain.prune();
  await store.prune();
  await expect(blobs.keys()).resolves.toHaveLength(1); // the writer of the item may still write its header
  await store.enqueue('a', { id: 'i', content: 1 });
  const saved = await store.save(base, { base, acknowledge: [{ id: 'i', position: 0 }] });
  await expect(blobs.keys()).resolves.toEqual([]);
  await expect(keysOf(database.client(), table, 'a', 'I')).resolves.toEqual([]);
  await expect(keysOf(database.client(), table, 'a', 'J')).resolves.toEqual([]);

  await store.enqueue('a', { id: 'j', content: LARGE });
  await store.save(saved, { base: saved, acknowledge: [{ id: 'j', position: 1 }] });
  await enqueueAndDie(dying);
  await store.delete('a');
  await expect(blobs.keys()).resolves.toEqual([]);
  // The writer may have been slow, and put the blob only now. So its marker stays for a day.
  await expect(keysOf(database.client(), table, 'a', 'J')).resolves.toHaveLength(1);
  clock.time += DAY;
  await plain.prune();
  await expect(keysOf(database.client(), table, 'a', 'J')).resolves.toHaveLength(1);
  await store.prune();
  await expect(itemsOf(database.client(), table, 'a')).resolves.toEqual([]);
});

test('prune deletes the blob of a used inbox item a day later, if the save could not delete it', async () => {
  const clock = testClock();
  const table = await database.newTable();
  const { blobs } = testBlobs();
  const store = await database.newStore({ table, clock, blobs: { store: blobs, minBytes: 2_000 } });
  const base = await store.create(newSession('a'));
  for (const id of ['i', 'j']) await store.enqueue('a', { id, content: `${id}${LARGE}` });
  blobs.fault = async (operation) => {
    if (operation === 'delete') throw new Error('Not now.');
  };
  const saved = await store.save(base, { base, acknowledge: [{ id: 'j', position: 1 }] });
  blobs.fault = undefined;
  await expect(blobs.keys()).resolves.toHaveLength(2);
  clock.time += DAY;
  await store.prune();
  await expect(blobs.keys()).resolves.toHaveLength(1);
  // The row names the accepted item before it, so it is removed with the row of that item.
  await expect(keysOf(database.client(), table, 'a', 'I')).resolves.toHaveLength(2);
  clock.time += 10 * DAY;
  await store.prune();
  const { inbox } = await store.claim('a', { workerId: 'Ada', leaseSeconds: 60 });
  expect(inbox).toMatchObject([{ id: 'i', content: `i${LARGE}` }]);
  await store.save(saved, { base: saved, epoch: 1, acknowledge: inbox });
  await expect(blobs.keys()).resolves.toEqual([]);
  await expect(keysOf(database.client(), table, 'a', 'I')).resolves.toEqual([]);
  await expect(keysOf(database.client(), table, 'a', 'J')).resolves.toEqual([]);
});

test('an inbox item with a missing or damaged blob is reported as unreadable with its position, and the others are returned', async () => {
  const { blobs } = testBlobs();
  const store = await database.newStore({ blobs: { store: blobs, minBytes: 2_000 } });
  await store.create(newSession('a'));
  const keys: string[] = [];
  for (const id of ['missing', 'damaged', 'whole']) {
    await store.enqueue('a', { id, content: `${id}${LARGE}` });
    keys.push(...(await blobs.keys()).filter((key) => !keys.includes(key)));
  }
  const [missing = '', damaged = ''] = keys;
  await blobs.delete(missing);
  await writeFile(blobs.pathOf(damaged), 'other bytes');
  const { inbox, unreadable } = await store.claim('a', { workerId: 'Ada', leaseSeconds: 60 });
  expect(inbox.map(({ id }) => id)).toEqual(['whole']);
  expect(unreadable).toMatchObject([
    { position: 0, error: { code: 'STATE_FORMAT' } },
    { position: 1, error: { code: 'STATE_FORMAT' } },
  ]);
});

test('a writer that stalled for more than a day is refused, and stages its save again', async () => {
  const clock = testClock();
  const table = await database.newTable();
  const { blobs } = testBlobs();
  const options = { table, blobs: { store: blobs, minBytes: 2_000 } };
  const store = await database.newStore({ ...options, clock });
  const sweeper = await database.newStore({ ...options, clock: { ...clock, now: () => clock.time + DAY } });
  const base = await store.create(newSession('a'));
  let swept: string[] | undefined;
  database.proxy.fault = async (request, forward) => {
    if (!isFlip(request) || swept) return forward();
    swept = [];
    await sweeper.prune();
    swept = await blobs.keys();
    return forward();
  };
  const saved = await store.save(withFact(base, 'text', LARGE), { base });
  expect(swept).toEqual([]);
  expect(saved.version).toBe(2);
  await expect(store.load('a')).resolves.toEqual(saved);
  await expect(blobs.keys()).resolves.toHaveLength(1);
});

test('a session with blobs whose header is unreadable is deleted with them, by a store that has their store', async () => {
  const table = await database.newTable();
  const { blobs } = testBlobs();
  const store = await database.newStore({ table, blobs: { store: blobs, minBytes: 2_000 } });
  await store.create(withFact(newSession('victim'), 'text', LARGE));
  await database.corrupt(table, 'victim', () => '{}');
  const without = await database.newStore({ table });
  await expect(without.delete('victim')).rejects.toMatchObject({ code: 'STATE_FORMAT' });
  await expect(blobs.keys()).resolves.toHaveLength(1);
  await expect(store.delete('victim')).resolves.toBe(true);
  await expect(blobs.keys()).resolves.toEqual([]);
  await expect(store.exists('victim')).resolves.toBe(false);
});
