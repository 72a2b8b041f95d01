import { newSession, withFact } from '@holdfast/conformance';
import type { FaultProxy } from '@holdfast/conformance/proxy';
import { RedisSessionStore } from '@holdfast/store-redis';
import { Redis } from 'ioredis';
import { RedisServer, until } from 'test-servers';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { newPrefix, Writer } from '../support/harness.ts';
import { redisProxy } from '../support/redis-proxy.ts';

let server: RedisServer;
let proxy: FaultProxy;
let far: Redis;
let near: Redis;
let store: RedisSessionStore;
let other: RedisSessionStore;

beforeAll(async () => {
  server = await RedisServer.start();
  proxy = await redisProxy({ port: server.port });
  far = new Redis(proxy.port, { retryStrategy: () => 1 });
  far.on('error', () => undefined);
  near = new Redis(server.port);
});

beforeEach(() => {
  const prefix = newPrefix();
  store = new RedisSessionStore({ client: far, prefix });
  other = new RedisSessionStore({ client: near, prefix });
});

afterAll(async () => {
  far.disconnect();
  near.disconnect();
  await proxy.close();
  await server.stop();
});

test('a save without an operation id whose reply does not arrive is neither a conflict nor a second save', async () => {
  const base = await store.create(newSession('a'));
  proxy.arm('loseReply', 1);
  const saved = await store.save(withFact(base, 'n', 1), { base });
  expect(proxy.disarm()).toBe(true);
  expect(saved.version).toBe(2);
  await expect(store.load('a')).resolves.toEqual(saved);
});

test('a save whose reply does not arrive is done once, even if other writers save before the retry', async () => {
  const base = await store.create(newSession('a'));
  let open = (): void => undefined;
  proxy.gate = new Promise((resolve) => {
    open = resolve;
  });
  proxy.arm('loseReply', 1);
  const saving = store.save(withFact(base, 'n', 1), { base });
  await until('the save is done', async () => (await other.load('a'))?.version === 2);
  for (let count = 0; count < 10; count++) {
    const latest = await other.load('a');
    await other.save(withFact(latest ?? base, 'm', count), { base: latest });
  }
  open();
  expect((await saving).version).toBe(2);
  expect((await other.load('a'))?.version).toBe(12);
});

test('release, enqueue and claim return the right result when their replies do not arrive', async () => {
  await store.create(newSession('a'));
  const options = { workerId: 'Ada', leaseSeconds: 60 };
  proxy.arm('loseReply', 2);
  const { claim, attempt } = await store.claim('a', options);
  expect([claim.epoch, attempt]).toEqual([1, 1]);
  proxy.arm('loseReply', 2);
  await expect(store.enqueue('a', { id: 'i', content: 1 })).resolves.toBe(true);
  proxy.arm('loseReply', 2);
  await expect(store.release(claim)).resolves.toBe(true);
  expect(proxy.disarm()).toBe(true);
});

test('a delete whose reply does not arrive finds no session in its retry, and returns false', async () => {
  await store.create(newSession('a'));
  proxy.arm('loseReply', 2);
  await expect(store.delete('a')).resolves.toBe(false);
  expect(proxy.disarm()).toBe(true);
  await expect(other.exists('a')).resolves.toBe(false);
});

test('scripts that the server has dropped are sent again', async () => {
  const created = await Promise.all(['a', 'b', 'c', 'd'].map((id) => store.create(newSession(id))));
  const writers = created.map((session) => new Writer(store, session));
  for (let times = 0; times < 50; times++) await near.script('FLUSH');
  for (const writer of writers) {
    const session = await writer.stop();
    expect(writer.errors).toEqual([]);
    expect(session.version).toBeGreaterThan(1);
    expect(Writer.isWhole(session)).toBe(true);
    await expect(other.load(session.sessionId)).resolves.toEqual(session);
  }
});

test('a call fails at its timeout when the server does not reply, and is not executed twice', async () => {
  const hasty = new RedisSessionStore({ client: near, prefix: newPrefix(), timeoutSeconds: 0.3 });
  const base = await hasty.create(newSession('a'));
  const changed = withFact(base, 'n', 1);
  server.pause();
  const options = { base, operationId: 'op' };
  const [saved, loaded] = await Promise.allSettled([hasty.save(changed, options), hasty.load('a')]);
  server.resume();
  expect(saved).toMatchObject({ reason: { code: 'STORE_UNAVAILABLE', isAmbiguous: true } });
  expect(loaded).toMatchObject({ reason: { code: 'STORE_UNAVAILABLE', isAmbiguous: false } });
  expect((await hasty.save(changed, options)).version).toBe(2);
  expect((await hasty.load('a'))?.version).toBe(2);
});

test('a call is retried until its timeout when the client fails it', async () => {
  const brief = new Redis(proxy.port, { retryStrategy: () => 1, maxRetriesPerRequest: 0 });
  brief.on('error', () => undefined);
  const kept = new RedisSessionStore({ client: brief, prefix: newPrefix() });
  const base = await kept.create(newSession('a'));
  for (const fault of ['loseReply', 'cut'] as const) {
    proxy.arm(fault, 1);
    const latest = await kept.load('a');
    expect(proxy.disarm()).toBe(true);
    proxy.arm(fault, 1);
    const saved = await kept.save(withFact(latest ?? base, 'fault', fault), { base: latest });
    expect(proxy.disarm()).toBe(true);
    expect(saved.version).toBe((latest?.version ?? 0) + 1);
  }
  brief.disconnect();
});
