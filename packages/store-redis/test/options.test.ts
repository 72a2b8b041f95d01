import { RedisSessionStore } from '@holdfast/store-redis';
import { Redis } from 'ioredis';
import { afterAll, describe, expect, test } from 'vitest';

const invalid = (message: string): unknown =>
  expect.objectContaining({ code: 'ARGUMENT_INVALID', message: expect.stringContaining(message) });

const client = new Redis({ lazyConnect: true });
afterAll(() => client.disconnect());

describe('RedisSessionStore', () => {
  test.each<readonly [object | string, string]>([
    [{ nonsense: 1 }, 'RedisSessionStore has no option "nonsense". Known options: clock, expiry,'],
    [{ url: 'redis://localhost' }, 'has no option "url": use RedisSessionStore.open({ url }).'],
    [{ keyPrefix: 'a' }, 'has no option "keyPrefix": use "prefix".'],
    [{ client: 'redis://localhost' }, 'client must be a Redis or Cluster'],
    [{ prefix: '{a}' }, 'prefix of RedisSessionStore must be a string without braces, found string "{a}".'],
    [{ prefix: 5 }, 'prefix of RedisSessionStore must be a string without braces, found number 5.'],
    [
      { buckets: 1_025 },
      'buckets of RedisSessionStore must be a whole number from 1 to 1024, found number 1025.',
    ],
    [{ maxValueBytes: 0 }, 'maxValueBytes of RedisSessionStore must be a whole number of at least 1'],
    [{ timeoutSeconds: 0 }, 'timeoutSeconds of RedisSessionStore must be a number of seconds above 0'],
    [{ minReplicas: -1 }, 'minReplicas of RedisSessionStore must be a whole number of at least 0'],
    [{ onWarning: true }, 'onWarning of RedisSessionStore must be a function, found boolean true.'],
    [{ clock: {} }, 'clock of RedisSessionStore must be'],
  ])('refuses %o', (options, message) => {
    const make = () => new RedisSessionStore({ client, ...(options as object) });
    expect(make).toThrow(invalid(message));
  });

  test('refuses a call without options', () => {
    expect(() => new RedisSessionStore(undefined as never)).toThrow(invalid('takes an object with options'));
  });
});

test.each<readonly [object | string, string]>([
  [{ url: 'redis://localhost', nonsense: 1 }, 'RedisSessionStore.open has no option "nonsense".'],
  [{ client }, 'has no option "client": use new RedisSessionStore({ client }).'],
  [{ host: 'localhost' }, 'has no option "host": use RedisSessionStore.open({ url })'],
  [{}, 'RedisSessionStore.open needs one of the options url, redis and cluster.'],
  [{ url: 5 }, 'url of RedisSessionStore.open must be a string, found number 5.'],
  [{ cluster: { host: 'a' } }, 'cluster of RedisSessionStore.open must be an array of nodes'],
  ['redis://:secret@localhost', 'RedisSessionStore.open takes an object with options, found a string.'],
])('RedisSessionStore.open refuses %o', async (options, message) => {
  await expect(RedisSessionStore.open(options as never)).rejects.toEqual(invalid(message));
});
