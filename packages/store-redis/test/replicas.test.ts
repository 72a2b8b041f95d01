import { newSession, withFact } from '@holdfast/conformance';
import type { FaultProxy } from '@holdfast/conformance/proxy';
import { hasErrorCode, type AgentSession } from '@holdfast/core';
import { RedisSessionStore } from '@holdfast/store-redis';
import { Redis } from 'ioredis';
import { RedisServer, until } from 'test-servers';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { newPrefix } from './support/harness.ts';
import { redisProxy } from './support/redis-proxy.ts';

const servers: RedisServer[] = [];
let replica: RedisServer;
let proxy: FaultProxy;
let client: Redis;
let prefix: string;
let store: RedisSessionStore;

/** Starts a master with a replica, and waits until the replica is up to date. */
async function withReplica(): Promise<RedisServer> {
  const master = await RedisServer.start();
  servers.push(master);
  replica = await RedisServer.start({ args: ['--replicaof', '127.0.0.1', String(master.port)] });
  servers.push(replica);
  const near = new Redis(master.port);
  await until('the replica has all', async () => (await near.wait(1, 100)) === 1);
  near.disconnect();
  return master;
}

beforeAll(async () => {
  const master = await withReplica();
  proxy = await redisProxy({ port: master.port });
  client = new Redis(proxy.port, { retryStrategy: () => 1 });
  client.on('error', () => undefined);
});

beforeEach(() => {
  prefix = newPrefix();
  store = new RedisSessionStore({ client, prefix, minReplicas: 1 });
});

afterAll(async () => {
  client.disconnect();
  await proxy.close();
  await Promise.all(servers.map((server) => server.stop()));
});

const UNSURE = { code: 'STORE_UNAVAILABLE', isAmbiguous: true };

/** Creates a session without a wait for replicas, and loads it from the store. */
async function storedSession(): Promise<AgentSession> {
  await new RedisSessionStore({ client, prefix }).create(newSession('a'));
  const session = await store.load('a');
  if (session === undefined) throw new Error('The store has lost the session.');
  return session;
}

/** Saves a session. On a busy machine the replica can need longer than the store waits: then repeats the save. */
async function saved(session: AgentSession, base: AgentSession, operationId: string): Promise<AgentSession> {
  for (;;) {
    try {
      return await store.save(session, { base, operationId });
    } catch (error) {
      if (!hasErrorCode(error, 'STORE_UNAVAILABLE')) throw error;
    }
  }
}

test('a write that too few replicas have rejects, and can be repeated', async () => {
  const base = await storedSession();
  replica.pause();
  const changed = withFact(base, 'n', 1);
  await expect(store.save(changed, { base, operationId: 'op' })).rejects.toMatchObject(UNSURE);
  replica.resume();
  const next = await saved(changed, base, 'op');
  expect(next.version).toBe(2);
  expect((await saved(next, next, 'next')).version).toBe(3);
});

test('replicas of another master, to which the client has reconnected, do not count', async () => {
  const base = await storedSession();
  const other = await withReplica();
  // The first request is the save. The second is WAIT, which the client sends again to the other master.
  proxy.arm('cut', 2);
  proxy.target = { host: '127.0.0.1', port: other.port };
  const saving = store.save(withFact(base, 'n', 1), { base });
  await expect(saving).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
  expect(proxy.disarm()).toBe(true);
});
