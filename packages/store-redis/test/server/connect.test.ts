import { newSession } from '@holdfast/conformance';
import { RedisSessionStore } from '@holdfast/store-redis';
import { Redis } from 'ioredis';
import { freePort, until } from 'test-servers';
import { expect, test } from 'vitest';
import { newPrefix, testServer } from '../support/harness.ts';

const redis = testServer();

test('closing a store does not close the client that the caller passed', async () => {
  const store = new RedisSessionStore({ client: redis.client, prefix: newPrefix() });
  await store.create(newSession('a'));
  await store.close();
  await expect(store.load('a')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', isAmbiguous: false });
  await expect(redis.client.ping()).resolves.toBe('PONG');
});

test('closing a store closes the client that the store created', async () => {
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

test('open rejects for an unreachable server, and closes its client', async () => {
  const redis = { port: await freePort() };
  const opening = RedisSessionStore.open({ redis, timeoutSeconds: 0.2 });
  await expect(opening).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
    message: expect.stringContaining(`ECONNREFUSED 127.0.0.1:${redis.port}`),
  });
});

test('a write with a closed client rejects unambiguously', async () => {
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
