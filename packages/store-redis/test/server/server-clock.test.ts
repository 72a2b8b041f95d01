import { newSession } from '@holdfast/conformance';
import { RedisSessionStore } from '@holdfast/store-redis';
import { afterEach, expect, test, vi } from 'vitest';
import { newPrefix, testServer } from '../support/harness.ts';

const redis = testServer();

afterEach(() => {
  vi.restoreAllMocks();
});

/** The milliseconds since 1970 on the clock of the server. */
async function serverTime(): Promise<number> {
  const [seconds, microseconds] = await redis.client.time();
  return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
}

test('leases use the clock of the server, not the clock of the machine', async () => {
  const now = Date.now();
  vi.spyOn(Date, 'now').mockImplementation(() => now + 86_400_000);
  const store = new RedisSessionStore({ client: redis.client, prefix: newPrefix() });
  expect(store.capabilities.clock).toBe('server');
  const before = await serverTime();
  await store.create(newSession('a', { at: 1_000 }));
  const { claim } = await store.claim('a', { workerId: 'Ada', leaseSeconds: 60 });
  const after = await serverTime();
  const { updatedAt = 0 } = (await store.load('a')) ?? {};
  for (const instant of [claim.until - 60_000, updatedAt]) {
    expect(instant).toBeGreaterThanOrEqual(before);
    expect(instant).toBeLessThanOrEqual(after);
  }
});
