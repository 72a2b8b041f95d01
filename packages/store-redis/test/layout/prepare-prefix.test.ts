import { newSession } from '@holdfast/conformance';
import { RedisSessionStore, type RedisStoreOptions } from '@holdfast/store-redis';
import { beforeEach, describe, expect, test } from 'vitest';
import { newPrefix, testServer } from '../support/harness.ts';

const redis = testServer();
let prefix: string;

beforeEach(() => {
  prefix = newPrefix();
});

const opened = (options: RedisStoreOptions = {}) =>
  new RedisSessionStore({ client: redis.client, prefix, ...options });

describe('a prefix', () => {
  test('keeps the number of buckets of its first store', async () => {
    await opened({ buckets: 3 }).create(newSession('a'));
    const before = await redis.client.hgetall(`${prefix}:meta`);
    expect(before).toEqual({ schema: '5', buckets: '3' });
    await expect(opened({ buckets: 2 }).load('a')).rejects.toMatchObject({ code: 'STATE_FORMAT' });
    await expect(opened().exists('a')).resolves.toBe(true);
    expect(await redis.client.hgetall(`${prefix}:meta`)).toEqual(before);
  });

  test.each([
    ['6', 'STATE_VERSION', 'open it with that release'],
    ['4', 'STATE_FORMAT', 'this release reads layout 5 only: open it with the release that wrote it'],
    ['x', 'STATE_FORMAT', 'choose another prefix'],
  ])('with schema %s is refused and stays unchanged', async (schema, code, says) => {
    await redis.client.hset(`${prefix}:meta`, { schema, buckets: 1 });
    await expect(opened().create(newSession('a'))).rejects.toMatchObject({
      code,
      message: expect.stringContaining(says),
    });
    expect(await redis.client.hgetall(`${prefix}:meta`)).toEqual({ schema, buckets: '1' });
    expect(await redis.client.exists(`${prefix}:{0}:s:a`)).toBe(0);
  });

  test('whose layout key has another type is refused and stays unchanged', async () => {
    await redis.client.set(`${prefix}:meta`, 'mine');
    await expect(opened().list()).rejects.toMatchObject({ code: 'STATE_FORMAT' });
    expect(await redis.client.get(`${prefix}:meta`)).toBe('mine');
  });
});
