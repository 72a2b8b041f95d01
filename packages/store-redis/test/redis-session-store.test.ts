import { assertStoreCosts, sessionStoreTests } from '@holdfast/conformance';
import { stepsOfWalk, walkWithBases } from '@holdfast/conformance/test';
import { testCases } from '@holdfast/conformance/vitest';
import { RedisSessionStore, type RedisStoreOptions } from '@holdfast/store-redis';
import { describe, expect, test } from 'vitest';
import COSTS from './session-store-costs.json' with { type: 'json' };
import { countCommands, harness, scans } from './support/harness.ts';
import { proxiedServer, REDIS_URL } from './support/proxied-server.ts';

/** The walks of other test files in this process, on other servers. */
const scansBefore = scans.count;
const server = proxiedServer();
const { faults, measure } = server;
const oneBucket = harness(() => server.client);

describe('one bucket', () => {
  const measureWork = async () => ({ ...(await measure()), work: await countCommands(server.observer) });
  testCases(sessionStoreTests({ ...oneBucket, measure: measureWork, faults }));
});

/**
 * The requests and bytes of each operation on a session of 100 messages of 1 KB. Update a number when a change makes its
 * operation cheaper.
 */
test('each operation exchanges the requests and bytes that the table lists', async () => {
  await expect(assertStoreCosts({ ...oneBucket, measure }, COSTS)).resolves.toBeUndefined();
});

test('a read with any base gives what a read without one gives', async () => {
  const walk = walkWithBases(oneBucket, { seed: 4, steps: stepsOfWalk(100) });
  await expect(walk).resolves.toBeUndefined();
});

test.each<[string, RedisStoreOptions]>([
  ['a prefix with braces', { prefix: 'a{b}' }],
  ['an empty prefix', { prefix: '' }],
  ['a prefix with a lone surrogate', { prefix: '\ud800' }],
  ['no buckets', { buckets: 0 }],
  ['too many buckets', { buckets: 1_025 }],
  ['half a bucket', { buckets: 1.5 }],
  ['a timeout of 0', { timeoutSeconds: 0 }],
  ['a value size of 0', { maxValueBytes: 0 }],
  ['a negative number of replicas', { minReplicas: -1 }],
])('%s is refused', (_, options) => {
  expect(() => new RedisSessionStore({ client: server.client, ...options })).toThrow(
    expect.objectContaining({ code: 'ARGUMENT_INVALID' }),
  );
});

// The test's own server has received no commands but those of the cases above.
test.runIf(REDIS_URL === undefined)('no operation walks through the keys of the server', async () => {
  const stats = await server.client.info('commandstats');
  expect(stats).toMatch(/^cmdstat_zrange:/m);
  expect(stats).not.toMatch(/^cmdstat_(keys|hscan|zscan|sscan|randomkey):/m);
  expect(/^cmdstat_scan:calls=(\d+)/m.exec(stats)?.[1]).toBe(String(scans.count - scansBefore));
});
