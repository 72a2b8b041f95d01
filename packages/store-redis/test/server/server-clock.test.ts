import { newSession } from '@holdfast/conformance';
import { RedisSessionStore } from '@holdfast/store-redis';
import { afterEach, expect, test, vi } from 'vitest';
import { newPrefix, testServer } from '../support/harness.ts';

const redis = testServer();

afterEach(() => {
  vi.restoreAllMocks();
});

test('leases use the clock of the server, not the clock of the machine', async () => {
  const [seconds] = await redis.client.time();
  const now = Date.now();
  vi.spyOn(Date, 'now').mockImplementation(() => now + 86_400_000);
  const store = new RedisSessionStore({ client: redis.client, prefix: newPrefix() });
  expect(store.capabilities.clock).toBe('server');
  await store.create(newSession('a', { at: 1_000 }));
  const { claim } = await store.claim('a', { workerId: 'Ada', leaseSeconds: 60 });
  const expected = Number(seconds) * 1_000 + 60_000;
  expect(Math.abs(claim.until - expected)).toBeLessThan(5_000);
  expect(Math.abs(((await store.load('a'))?.updatedAt ?? 0) - Number(seconds) * 1_000)).toBeLessThan(5_000);
});
