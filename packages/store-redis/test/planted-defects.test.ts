import { firstRed, plantedDefects } from '@holdfast/conformance/test';
import type { StoreFaults } from '@holdfast/conformance';
import type { FaultProxy } from '@holdfast/conformance/proxy';
import { Redis } from 'ioredis';
import { RedisServer } from 'test-servers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { harness } from './support/harness.ts';
import { redisProxy } from './support/redis-proxy.ts';

let server: RedisServer;
let proxy: FaultProxy;
let client: Redis;

beforeAll(async () => {
  server = await RedisServer.start();
  proxy = await redisProxy({ port: server.port });
  client = new Redis(proxy.port, { retryStrategy: () => 1 });
  client.on('error', () => undefined); // the test closes connections on purpose
});

afterAll(async () => {
  client.disconnect();
  await proxy.close();
  await server.stop();
});

/** The proxy exists when a case runs, but not yet when the case is declared. */
const faults: StoreFaults = {
  kinds: ['loseReply', 'cut', 'throttle'],
  arm: (fault, nth) => proxy.arm(fault, nth),
  disarm: () => proxy.disarm(),
};
const measure = () => proxy.measure();

const REPEATED = 'The backend repeats a request whose connection breaks, so these wrappers see no error.';
const HIDDEN = {
  'reports a write whose reply did not arrive as not done': REPEATED,
  'throws the errors of its client': REPEATED,
  'treats a failed request as done': REPEATED,
  'removes used items after the save, in a second request': REPEATED,
  'reports a failed read as ambiguous': REPEATED,
};

test.for(plantedDefects({ ...harness(() => client), measure, faults }, HIDDEN))(
  'the cases find a store on Redis that $name',
  { timeout: 240_000 },
  async (defect) => {
    await expect(firstRed(defect)).resolves.toBeDefined();
  },
);
