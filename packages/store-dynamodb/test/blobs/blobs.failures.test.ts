import { readFile, rm, writeFile } from 'node:fs/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { newSession, testClock, withFact } from '@holdfast/conformance';
import { DynamoDbSessionStore } from '@holdfast/store-dynamodb';
import { expect, test } from 'vitest';
import { itemsOf, keysOf } from '../support/stored-items.ts';
import { testBlobs } from '../support/test-blobs.ts';
import { testDatabase } from '../support/test-database.ts';

const database = testDatabase();
const DAY = 86_400_000;
const LARGE = 'x'.repeat(5_000);

test('a blob that cannot be put changes nothing in the session', async () => {
  const clock = testClock();
  const table = await database.newTable();
  const { blobs } = testBlobs();
  const store = await database.newStore({ table, clock, blobs: { store: blobs, minBytes: 2_000 } });
  const base = await store.create(newSession('a'));
  const both = withFact(base, 'text', LARGE);
  const next = both.withState(both.state.withUserMessage(`${LARGE}y`));
  const cause = new Error('The bucket is full.');
  let puts = 0;
  blobs.fault = async (operation) => {
    if (operation === 'put' && ++puts === 2) throw cause;
  };
  const options = { base, operationId: 'op' };
  const refused = { code: 'STORE_UNAVAILABLE', isAmbiguous: false, cause };
  await expect(store.save(next, options)).rejects.toMatchObject(refused);
  await expect(store.load('a')).resolves.toEqual(base);
  await expect(blobs.keys()).resolves.toEqual([]);
  await expect(keysOf(database.client(), table, 'a', 'E')).resolves.toHaveLength(1);
  blobs.fault = undefined;
  const saved = await store.save(next, options);
  await expect(store.load('a')).resolves.toEqual(saved);

  // A failed put may still complete, so the notes stay for a day.
  await expect(keysOf(database.client(), table, 'a', 'B')).resolves.toHaveLength(4);
  clock.time += DAY;
  await store.prune();
  await expect(keysOf(database.client(), table, 'a', 'B')).resolves.toHaveLength(2);
  await expect(store.load('a')).resolves.toEqual(saved);
});

test('a blob that cannot be read is reported as an outage', async () => {
  const { blobs } = testBlobs();
  const store = await database.newStore({ blobs: { store: blobs, minBytes: 2_000 } });
  const saved = await store.create(withFact(newSession('a'), 'text', LARGE));
  const cause = new Error('It is closed.');
  blobs.fault = () => Promise.reject(cause);
  const refused = { code: 'STORE_UNAVAILABLE', isAmbiguous: false, cause };
  await expect(store.load('a')).rejects.toMatchObject(refused);
  blobs.fault = undefined;
  await expect(store.load('a')).resolves.toEqual(saved);
});

test('the error of a missing blob names the blob, and the session stays', async () => {
  const table = await database.newTable();
  const { blobs } = testBlobs();
  const store = await database.newStore({ table, blobs: { store: blobs, minBytes: 2_000 } });
  await store.create(withFact(newSession('a'), 'text', LARGE));
  const [key = ''] = await blobs.keys();
  const bytes = await readFile(blobs.pathOf(key));
  await rm(blobs.pathOf(key));
  const path = `the blob ${key} of session "a"`;
  await expect(store.load('a')).rejects.toMatchObject({ code: 'STATE_FORMAT', path });
  // The store read the blob again, after it had found the header unchanged.
  expect(blobs.operations).toEqual(['put', 'get', 'get']);
  await expect(store.claim('a', { workerId: 'Ada', leaseSeconds: 60 })).rejects.toMatchObject({ path });
  await expect(itemsOf(database.client(), table, 'a')).resolves.toHaveLength(3);
  await blobs.put(key, bytes);
  await expect(store.load('a')).resolves.toMatchObject({ version: 1 });
  await expect(store.delete('a')).resolves.toBe(true);
});

test('a blob whose bytes do not have the hash in its key is refused', async () => {
  const { blobs } = testBlobs();
  const store = await database.newStore({ blobs: { store: blobs, minBytes: 2_000 } });
  const base = await store.create(newSession('a'));
  const first = await store.save(withFact(base, 'text', LARGE), { base });
  const [key = ''] = await blobs.keys();
  const session = first.withState(first.state.withUserMessage(`${LARGE}y`));
  await store.save(session, { base: first });
  const other = (await blobs.keys()).find((each) => each !== key) ?? '';
  await writeFile(blobs.pathOf(key), await readFile(blobs.pathOf(other)));
  const path = `the blob ${key} of session "a"`;
  await expect(store.load('a')).rejects.toMatchObject({ code: 'STATE_FORMAT', path });
});

test('blobs that could not be deleted are deleted a day later', async () => {
  const clock = testClock();
  const table = await database.newTable();
  const { blobs } = testBlobs();
  const store = await database.newStore({ table, clock, blobs: { store: blobs, minBytes: 2_000 } });
  const base = await store.create(withFact(newSession('a'), 'text', LARGE));
  await store.create(withFact(newSession('b'), 'text', LARGE));
  // After a day `prune` no longer examines the blobs by their own notes.
  clock.time += DAY;
  await store.prune();
  blobs.fault = async (operation) => {
    if (operation === 'delete') throw new Error('Not now.');
  };
  const saved = await store.save(withFact(base, 'text', 'short'));
  await expect(store.delete('b')).resolves.toBe(true);
  await expect(blobs.keys()).resolves.toHaveLength(2);
  await expect(store.load('a')).resolves.toEqual(saved);

  clock.time += DAY - 1;
  blobs.fault = undefined;
  await store.prune();
  await expect(blobs.keys()).resolves.toHaveLength(2);
  clock.time += 1;
  await store.prune();
  await expect(blobs.keys()).resolves.toEqual([]);
  await expect(store.load('a')).resolves.toEqual(saved);
  await expect(keysOf(database.client(), table, 'a', 'B')).resolves.toEqual([]);
  await expect(itemsOf(database.client(), table, 'b')).resolves.toEqual([]);
});

test('a store without blobs refuses to change sessions with blobs, and the error names the option', async () => {
  const clock = testClock();
  const table = await database.newTable();
  const { blobs } = testBlobs();
  const expiry = { afterSeconds: 60 };
  const store = await database.newStore({ table, clock, expiry, blobs: { store: blobs, minBytes: 2_000 } });
  const plain = await database.newStore({ table, clock, expiry });
  const created = await store.create(withFact(newSession('a'), 'text', LARGE));
  const keys = (await itemsOf(database.client(), table, 'a')).map(({ sk }) => sk);
  const refused = {
    code: 'STATE_FORMAT',
    path: 'session "a"',
    message: expect.stringContaining('the option `blobs`') as string,
  };
  const asks = [
    () => plain.load('a'),
    () => plain.claim('a', { workerId: 'Ada', leaseSeconds: 60 }),
    () => plain.save(created),
    () => plain.save(created, { base: created }),
    () => plain.enqueue('a', { id: 'i', content: 1 }),
    () => plain.delete('a'),
  ];
  for (const ask of asks) await expect(ask()).rejects.toMatchObject(refused);
  await expect(plain.exists('a')).resolves.toBe(true);
  await expect(plain.list()).resolves.toMatchObject({ sessions: [{ sessionId: 'a' }] });
  clock.time += DAY;
  await expect(plain.prune()).resolves.toBe(0);
  await expect(plain.create(newSession('a'))).rejects.toMatchObject(refused);
  expect((await itemsOf(database.client(), table, 'a')).map(({ sk }) => sk)).toEqual(keys);
  await expect(store.prune()).resolves.toBe(1);
  await expect(blobs.keys()).resolves.toEqual([]);
});

test('an invalid minBytes is refused', () => {
  const client = new DynamoDBClient({ region: 'us-east-1' });
  const { blobs: store } = testBlobs();
  for (const minBytes of [0, 1.5, 64 * 1024 * 1024 + 1]) {
    const make = (): unknown => new DynamoDbSessionStore({ client, table: 't', blobs: { store, minBytes } });
    expect(make).toThrow(expect.objectContaining({ code: 'ARGUMENT_INVALID' }));
  }
  client.destroy();
});
