import { newSession } from '@holdfast/conformance';
import { RedisSessionStore } from '@holdfast/store-redis';
import type { RedisStoreOptions } from '@holdfast/store-redis';
import { Cluster, Redis } from 'ioredis';
import { afterEach, expect, test, vi } from 'vitest';
import { newPrefix, testServer } from './harness.ts';
import { freePort, until } from './redis-server.ts';

const redis = testServer();

afterEach(() => {
  vi.restoreAllMocks();
});

test('a client that was passed in stays open, and the store is closed', async () => {
  const store = new RedisSessionStore({ client: redis.client, prefix: newPrefix() });
  await store.create(newSession('a'));
  await store.close();
  await expect(store.load('a')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', isAmbiguous: false });
  await expect(redis.client.ping()).resolves.toBe('PONG');
});

test('a client that the store opened is closed with it', async () => {
  const prefix = newPrefix();
  const url = `redis://127.0.0.1:${redis.port}/2`;
  const store = await RedisSessionStore.open({ url, prefix, redis: { connectionName: prefix } });
  await store.create(newSession('a'));
  const connected = async () => String(await redis.client.client('LIST')).includes(prefix);
  expect(await connected()).toBe(true);
  await store.close();
  await until('the connection is closed', async () => !(await connected()));
  await redis.client.select(2);
  expect(await redis.client.exists(`${prefix}:{0}:s:a`)).toBe(1);
  await redis.client.select(0);
});

test('a server that is not there is unavailable, and nothing is left of the attempt', async () => {
  const redis = { port: await freePort() };
  const opening = RedisSessionStore.open({ redis, timeoutSeconds: 0.2 });
  await expect(opening).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
    message: expect.stringContaining(`ECONNREFUSED 127.0.0.1:${redis.port}`),
  });
});

test('a client that is closed is unavailable, and nothing was done', async () => {
  const closed = new Redis(redis.port);
  const store = new RedisSessionStore({ client: closed, prefix: newPrefix() });
  const base = await store.create(newSession('a'));
  await closed.quit();
  await until('it is closed', () => closed.status === 'end');
  await expect(store.save(base, { base })).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
    isAmbiguous: false,
  });
});

test.each<[string, RedisStoreOptions]>([
  ['a prefix with braces', { prefix: 'a{b}' }],
  ['an empty prefix', { prefix: '' }],
  ['a prefix that is no text', { prefix: '\ud800' }],
  ['no buckets', { buckets: 0 }],
  ['too many buckets', { buckets: 1_025 }],
  ['half a bucket', { buckets: 1.5 }],
  ['no time', { timeoutSeconds: 0 }],
  ['no bytes', { maxValueBytes: 0 }],
  ['less than no replicas', { minReplicas: -1 }],
])('%s is refused', (_, options) => {
  expect(() => new RedisSessionStore({ client: redis.client, ...options })).toThrow(
    expect.objectContaining({ code: 'ARGUMENT_INVALID' }),
  );
});

test('a client that changes keys, or is none, is refused', () => {
  const refused = expect.objectContaining({ code: 'ARGUMENT_INVALID' });
  const lazy = { lazyConnect: true, keyPrefix: 'app:' };
  expect(() => new RedisSessionStore({ client: new Redis(lazy) })).toThrow(refused);
  const cluster = new Cluster([{ port: 1 }], { lazyConnect: true, redisOptions: { keyPrefix: 'app:' } });
  expect(() => new RedisSessionStore({ client: cluster })).toThrow(refused);
  const plain = new Cluster([{ port: 1 }], { lazyConnect: true });
  expect(() => new RedisSessionStore({ client: plain, minReplicas: 1 })).toThrow(refused);
  expect(() => new RedisSessionStore({ client: {} as Redis })).toThrow(refused);
});

test('leases go by the clock of the server, whatever the machine thinks', async () => {
  const [seconds] = await redis.client.time();
  const now = Date.now();
  vi.spyOn(Date, 'now').mockImplementation(() => now + 86_400_000);
  const store = new RedisSessionStore({ client: redis.client, prefix: newPrefix() });
  expect(store.capabilities.clock).toBe('server');
  await store.create(newSession('a', { at: 1_000 }));
  const { claim } = await store.claim('a', { owner: 'Ada', leaseSeconds: 60 });
  const expected = Number(seconds) * 1_000 + 60_000;
  expect(Math.abs(claim.until - expected)).toBeLessThan(5_000);
  expect(Math.abs(((await store.load('a'))?.updatedAt ?? 0) - Number(seconds) * 1_000)).toBeLessThan(5_000);
});
