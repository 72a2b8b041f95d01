import { newSession } from '@holdfast/conformance';
import { RedisSessionStore } from '@holdfast/store-redis';
import { expect, test } from 'vitest';
import { newPrefix, testServer } from '../support/harness.ts';

const redis = testServer();

/** Session ids in the order of their bytes. */
const IDS = ['\u0000', '\n', '-', 'B', 'a', 'a\u0000', 'aB', 'aa', 'ab', 'b', '}:s:a', 'ä', 'ﬀ', '𝄞'];

test.each([
  ['createdAt', 1],
  ['lastActiveAt', 1],
  ['createdAt', 3],
] as const)(
  'sessions of one instant are in the order of their ids: by %s, %i buckets',
  async (order, buckets) => {
    const clock = { now: () => 2_000_000_000_000, newId: () => crypto.randomUUID() };
    const store = new RedisSessionStore({ client: redis.client, clock, prefix: newPrefix(), buckets });
    await Promise.all(IDS.map((id) => store.create(newSession(id))));
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await store.list({ order, limit: 1, agentName: 'tester', cursor });
      found.push(...page.sessions.map(({ sessionId }) => sessionId));
      cursor = page.cursor;
      // Deletes every second session after which a page begins.
      if (found.length % 2 === 0) await store.delete(found.at(-1) ?? '');
    } while (cursor !== undefined);
    expect(found).toEqual(IDS);
  },
);

test('a page that begins late in many sessions of one instant reads few entries', async () => {
  const prefix = newPrefix();
  const store = new RedisSessionStore({ client: redis.client, prefix });
  await store.create(newSession('session 0', { at: 1_000 }));
  const score = await redis.client.zscore(`${prefix}:{0}:c`, 'session 0');
  // Entries without a session. The list drops the entries that it reads.
  const others = Array.from({ length: 5_000 }, (_, index) => [String(score), `other ${10_000 + index}`]);
  await redis.client.zadd(`${prefix}:{0}:c`, ...others.flat());
  const cursor = JSON.stringify(['createdAt', 1_000, 'other 14998']);
  await redis.client.config('RESETSTAT');
  const { sessions } = await store.list({ limit: 1, cursor });
  expect(sessions.map(({ sessionId }) => sessionId)).toEqual(['session 0']);
  const ranges = /cmdstat_zrange:calls=(\d+)/.exec(await redis.client.info('commandstats'))?.[1];
  expect(Number(ranges)).toBeLessThan(30);
});
