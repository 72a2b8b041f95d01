import { assertStoreCosts, type StoreCost, type StoreCosts, type StoreFaults } from '@holdfast/conformance';
import type { FaultProxy } from '@holdfast/conformance/proxy';
import { RedisSessionStore, type RedisStoreOptions } from '@holdfast/store-redis';
import { Redis } from 'ioredis';
import { RedisServer } from 'test-servers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { countCommands, harness, scans, testConformance } from './support/harness.ts';
import { redisProxy } from './support/redis-proxy.ts';

/** The URL of another server for the cases. The keys that the cases write begin with `holdfast-test-`. */
const { REDIS_URL } = process.env;

/**
 * The requests and bytes of each operation on a session of 100 messages of 1 KB. Update a number when a change makes its
 * operation cheaper.
 */
const COSTS: StoreCosts = {
  create: { requests: 1, bytes: 120_022 },
  load: { requests: 2, bytes: 119_676 },
  'load with base': { requests: 1, bytes: 912 },
  claim: { requests: 3, bytes: 120_547 },
  'claim with base': { requests: 2, bytes: 1_812 },
  'refused claim': { requests: 1, bytes: 1_024 },
  'save a message of 1 KB': { requests: 1, bytes: 2_392 },
  'save a step': { requests: 1, bytes: 4_322 },
  renew: { requests: 1, bytes: 939 },
  release: { requests: 1, bytes: 940 },
  enqueue: { requests: 2, bytes: 1_865 },
  'list a page of one': { requests: 2, bytes: 1_929 },
  due: { requests: 2, bytes: 1_937 },
};

let server: RedisServer | undefined;
let proxy: FaultProxy;
let client: Redis;
/** A connection past the proxy. */
let observer: Redis;

beforeAll(async () => {
  if (REDIS_URL === undefined) server = await RedisServer.start();
  const url = new URL(REDIS_URL ?? `redis://127.0.0.1:${server?.port}`);
  proxy = await redisProxy({ port: Number(url.port || 6379), host: url.hostname });
  observer = new Redis(url.href);
  url.host = `127.0.0.1:${proxy.port}`;
  client = new Redis(url.href, { retryStrategy: () => 1 });
  client.on('error', () => undefined); // the test closes connections on purpose
});

afterAll(async () => {
  client.disconnect();
  observer.disconnect();
  await proxy.close();
  await server?.stop();
});

describe('one bucket', () => {
  // The proxy exists when a case runs, but not yet when the case is declared.
  const faults: StoreFaults = {
    kinds: ['loseReply', 'cut', 'throttle'],
    arm: (fault, nth) => proxy.arm(fault, nth),
    disarm: () => proxy.disarm(),
  };
  const measure = async (): Promise<StoreCost> => ({
    ...(await proxy.measure()),
    work: await countCommands(observer),
  });
  testConformance({ ...harness(() => client), measure, faults });
});

test('each operation exchanges the requests and bytes that the table lists', async () => {
  const measured = { ...harness(() => client), measure: () => proxy.measure() };
  await expect(assertStoreCosts(measured, COSTS)).resolves.toBeUndefined();
});

describe('seven buckets', () => {
  testConformance(harness(() => client, { buckets: 7 }));
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
  expect(() => new RedisSessionStore({ client, ...options })).toThrow(
    expect.objectContaining({ code: 'ARGUMENT_INVALID' }),
  );
});

// The test's own server has received no commands but those of the cases above.
test.runIf(REDIS_URL === undefined)('no operation walks through the keys of the server', async () => {
  const stats = await client.info('commandstats');
  expect(stats).toMatch(/^cmdstat_zrange:/m);
  expect(stats).not.toMatch(/^cmdstat_(keys|hscan|zscan|sscan|randomkey):/m);
  expect(/^cmdstat_scan:calls=(\d+)/m.exec(stats)?.[1]).toBe(String(scans.count));
});
