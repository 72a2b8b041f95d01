import type { StoreCost, StoreFaults } from '@holdfast/conformance';
import type { FaultProxy } from '@holdfast/conformance/proxy';
import { Redis } from 'ioredis';
import { RedisServer } from 'test-servers';
import { afterAll, beforeAll } from 'vitest';
import { redisProxy } from './redis-proxy.ts';

/** The URL of another server for the cases. The keys that the cases write begin with `holdfast-test-`. */
export const { REDIS_URL } = process.env;

/** A server behind a proxy, which exists when a case runs, but not yet when the case is declared. */
export interface ProxiedServer {
  readonly client: Redis;
  /** A connection past the proxy. */
  readonly observer: Redis;
  readonly faults: StoreFaults;
  readonly measure: () => Promise<StoreCost>;
}

/** Starts a server for the tests of a file, or connects to the one at `REDIS_URL`. */
export function proxiedServer(): ProxiedServer {
  let server: RedisServer | undefined;
  let proxy: FaultProxy;
  let client: Redis;
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

  return {
    get client() {
      return client;
    },
    get observer() {
      return observer;
    },
    faults: {
      kinds: ['loseReply', 'cut', 'throttle'],
      arm: (fault, nth) => proxy.arm(fault, nth),
      disarm: () => proxy.disarm(),
    },
    measure: () => proxy.measure(),
  };
}
