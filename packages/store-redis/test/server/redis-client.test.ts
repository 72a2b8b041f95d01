import { RedisSessionStore } from '@holdfast/store-redis';
import { Cluster, Redis } from 'ioredis';
import { expect, test } from 'vitest';

test('a client with a keyPrefix, and a value that is not a client, are refused', () => {
  const refused = expect.objectContaining({ code: 'ARGUMENT_INVALID' });
  const lazy = { lazyConnect: true, keyPrefix: 'app:' };
  expect(() => new RedisSessionStore({ client: new Redis(lazy) })).toThrow(refused);
  const cluster = new Cluster([{ port: 1 }], { lazyConnect: true, redisOptions: { keyPrefix: 'app:' } });
  expect(() => new RedisSessionStore({ client: cluster })).toThrow(refused);
  const plain = new Cluster([{ port: 1 }], { lazyConnect: true });
  expect(() => new RedisSessionStore({ client: plain, minReplicas: 1 })).toThrow(refused);
  expect(() => new RedisSessionStore({ client: {} as Redis })).toThrow(refused);
});
