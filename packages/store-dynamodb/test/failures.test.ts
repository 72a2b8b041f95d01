import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { systemClock, type Clock } from '@holdfast/core';
import { newSession, withFact } from '@holdfast/conformance';
import { DynamoDbSessionStore } from '@holdfast/store-dynamodb';
import { expect, test } from 'vitest';
import { throttled, type Fault } from './support/request-proxy.ts';
import { isFlip } from './support/stored-items.ts';
import { testDatabase } from './support/test-database.ts';

const database = testDatabase();

/** Applies a fault to the nth write of a header, counted from 1. */
function onFlip(nth: number, fault: Fault): Fault {
  let flips = 0;
  return (request, forward) => (isFlip(request) && ++flips === nth ? fault(request, forward) : forward());
}

const loseReply: Fault = async (_, forward) => {
  await forward();
  return 'cut';
};

/** A clock whose timers fire at once, and the delays that were requested. */
function hurriedClock(): { readonly clock: Clock; readonly delays: number[] } {
  const delays: number[] = [];
  const after = (milliseconds: number, callback: () => void): (() => void) => {
    delays.push(milliseconds);
    const timer = setImmediate(callback);
    return () => clearImmediate(timer);
  };
  return { clock: { ...systemClock, after }, delays };
}

test('a write whose reply did not arrive is recognised when the client repeats it', async () => {
  const store = await database.newStore();
  await store.create(newSession('a'));
  database.proxy.fault = onFlip(1, loseReply);
  await expect(store.enqueue('a', { id: 'i', content: 1 })).resolves.toBe(true);
  await expect(store.enqueue('a', { id: 'i', content: 1 })).resolves.toBe(false);
});

test('a write whose reply did not arrive is recognised after three other writes', async () => {
  const table = await database.newTable();
  const [store, other] = [await database.newStore({ table }), await database.newStore({ table })];
  await store.create(newSession('a'));
  database.proxy.fault = onFlip(1, async (_, forward) => {
    await forward();
    for (const id of ['x', 'y', 'z']) await other.enqueue('a', { id, content: id });
    return 'cut';
  });
  await expect(store.enqueue('a', { id: 'i', content: 1 })).resolves.toBe(true);
  const { inbox } = await store.claim('a', { workerId: 'Ada', leaseSeconds: 60 });
  expect(inbox.map(({ id }) => id)).toEqual(['i', 'x', 'y', 'z']);
});

test('a deletion whose reply did not arrive has deleted the session', async () => {
  const store = await database.newStore();
  await store.create(newSession('a'));
  let isLost = false;
  database.proxy.fault = async ({ operation }, forward) => {
    const reply = await forward();
    if (operation !== 'DeleteItem' || isLost) return reply;
    isLost = true;
    return 'cut';
  };
  await expect(store.delete('a')).resolves.toBe(true);
  expect(isLost).toBe(true);
});

const THROTTLINGS = ['ProvisionedThroughputExceededException', 'ThrottlingException', 'RequestLimitExceeded'];

test.each(THROTTLINGS)('a request that is throttled (%s) is retried', async (name) => {
  const { clock, delays } = hurriedClock();
  const store = await database.newStore({ clock, maxAttempts: 1 });
  const base = await store.create(newSession('a'));
  database.proxy.fault = onFlip(1, async () => throttled(name));
  await expect(store.save(base, { base })).resolves.toMatchObject({ version: 2 });
  expect(delays).toHaveLength(1);
});

test.each(THROTTLINGS)('a request that stays throttled (%s) fails', async (name) => {
  const { clock, delays } = hurriedClock();
  const store = await database.newStore({ clock, maxAttempts: 1 });
  const base = await store.create(newSession('a'));
  database.proxy.fault = async () => throttled(name);
  const refused = { code: 'STORE_THROTTLED', message: expect.stringContaining('the table "sessions-') };
  await expect(store.save(base, { base })).rejects.toMatchObject(refused);
  expect(delays).toHaveLength(5);
  for (const [attempt, delay] of delays.entries()) expect(delay).toBeLessThanOrEqual(50 * 2 ** attempt);
  database.proxy.fault = undefined;
  await expect(store.load('a')).resolves.toEqual(base);
});

test('the error of a write that may have been done before it was throttled is ambiguous', async () => {
  const { clock } = hurriedClock();
  const store = await database.newStore({ clock, maxAttempts: 2 });
  const base = await store.create(newSession('a'));
  let flips = 0;
  database.proxy.fault = async (request, forward) => {
    if (!isFlip(request)) return forward();
    return ++flips === 1 ? loseReply(request, forward) : throttled();
  };
  const saving = store.save(withFact(base, 'n', 1), { base, operationId: 'op' });
  await expect(saving).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', isAmbiguous: true });
  database.proxy.fault = undefined;
  const saved = await store.save(withFact(base, 'n', 1), { base, operationId: 'op' });
  expect(saved.version).toBe(2);
});

test('a server error of a write is ambiguous, and of a read is not', async () => {
  const store = await database.newStore({ maxAttempts: 1 });
  const base = await store.create(newSession('a'));
  const failed = { status: 500, body: '{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError"}' };
  database.proxy.fault = onFlip(1, async () => failed);
  const saving = store.save(base, { base });
  await expect(saving).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', isAmbiguous: true });
  database.proxy.fault = async () => failed;
  await expect(store.load('a')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', isAmbiguous: false });
});

test('a write to an unreachable server is not ambiguous', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  server.close();
  await once(server, 'close');
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
  const connection = { region: 'us-east-1', endpoint, credentials };
  const client = new DynamoDBClient(connection);
  const store = new DynamoDbSessionStore({ client, table: 't' });
  const asks = [
    () => store.load('a'),
    () => store.create(newSession('a')),
    () => store.list(),
    () => DynamoDbSessionStore.open({ table: 't', ...connection }),
  ];
  for (const ask of asks) {
    await expect(ask()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', isAmbiguous: false });
  }
  client.destroy();
});

test('the error of a missing table names the table', async () => {
  const store = await database.newStore({ table: 'nowhere' });
  const asks = [() => store.load('a'), () => store.create(newSession('a')), () => store.list()];
  const message = expect.stringMatching(/the table "nowhere" \(ResourceNotFoundException/);
  for (const ask of asks) {
    await expect(ask()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', isAmbiguous: false, message });
  }
});

test('open checks the table', async () => {
  const [table, client] = [await database.newTable(), database.client()];
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
  const options = { table, region: 'us-east-1', endpoint: database.proxy.endpoint, credentials };
  const store = await DynamoDbSessionStore.open({ ...options, shards: 2 });
  const created = await store.create(newSession('a'));
  await store.close();
  await expect(new DynamoDbSessionStore({ client, table }).load('a')).resolves.toEqual(created);
  await (await DynamoDbSessionStore.open({ ...options, shards: 3 })).close();
  const refused = { code: 'ARGUMENT_INVALID', message: expect.stringContaining('from 2 to 3 shards') };
  await expect(DynamoDbSessionStore.open({ ...options, shards: 4 })).rejects.toMatchObject(refused);
  await expect(DynamoDbSessionStore.open({ ...options, table: '' })).rejects.toMatchObject({
    code: 'ARGUMENT_INVALID',
  });
});

test('closing a store does not destroy a client that was passed to it', async () => {
  const client = database.client();
  const table = await database.newTable();
  const store = new DynamoDbSessionStore({ client, table });
  await store.close();
  await expect(new DynamoDbSessionStore({ client, table }).exists('a')).resolves.toBe(false);
});

test('invalid options are refused', () => {
  const client = new DynamoDBClient({ region: 'us-east-1' });
  const wrong = [
    { table: '' },
    { table: 't', shards: 0 },
    { table: 't', shards: 1.5 },
    { table: 't', compactAfterSaves: 0 },
  ];
  for (const options of wrong) {
    expect(() => new DynamoDbSessionStore({ client, ...options })).toThrow(
      expect.objectContaining({ code: 'ARGUMENT_INVALID' }),
    );
  }
  client.destroy();
});
