import { newSession, sessionStoreTests, withFact } from '@holdfast/conformance';
import { testCases } from '@holdfast/conformance/vitest';
import { RedisSessionChannel, RedisSessionStore } from '@holdfast/store-redis';
import { Redis } from 'ioredis';
import { RedisServer, until } from 'test-servers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { entry, Recorder } from './support/channel-harness.ts';
import { harness, newPrefix } from './support/harness.ts';

const NAME = 'sessions';
const servers: RedisServer[] = [];
let master: RedisServer;
let replica: RedisServer;
let sentinels: { readonly host: string; readonly port: number }[];
let client: Redis;

beforeAll(async () => {
  master = await started();
  replica = await started({ args: ['--replicaof', '127.0.0.1', String(master.port)] });
  const sentinel = [
    `sentinel monitor ${NAME} 127.0.0.1 ${master.port} 2`,
    `sentinel down-after-milliseconds ${NAME} 1000`,
    `sentinel failover-timeout ${NAME} 5000`,
  ];
  const watching = [await started({ sentinel }), await started({ sentinel }), await started({ sentinel })];
  sentinels = watching.map(({ port }) => ({ host: '127.0.0.1', port }));
  for (const { port } of watching) await until('the sentinels know each other', () => knowsAll(port));
  client = new Redis({ sentinels, name: NAME });
  client.on('error', () => undefined);
});

afterAll(async () => {
  client.disconnect();
  await Promise.all(servers.map((server) => server.stop()));
});

async function started(init: Parameters<typeof RedisServer.start>[0] = {}): Promise<RedisServer> {
  const server = await RedisServer.start(init);
  servers.push(server);
  return server;
}

/** True when a Sentinel knows the replica and the two other Sentinels. */
async function knowsAll(port: number): Promise<boolean> {
  const node = new Redis(port);
  try {
    return (await node.info('sentinel')).includes(
      `name=${NAME},status=ok,address=127.0.0.1:${master.port},slaves=1,sentinels=3`,
    );
  } finally {
    node.disconnect();
  }
}

describe('behind Sentinel', () => {
  testCases(sessionStoreTests(harness(() => client)));
});

test('a failover that loses an acknowledged save is detected, and no later save overwrites the session', async () => {
  const prefix = newPrefix();
  const store = await RedisSessionStore.open({
    redis: { sentinels, name: NAME },
    prefix,
    timeoutSeconds: 30,
  });
  const base = await store.create(newSession('a'));
  const channel = await RedisSessionChannel.open({ redis: { sentinels, name: NAME }, prefix });
  const reader = new Recorder();
  await channel.subscribe('a', reader.listener, reader);
  const near = new Redis(master.port);
  const copy = new Redis(replica.port);
  await until('the replica has it', async () => (await copy.exists(`${prefix}:{0}:s:a`)) === 1);
  copy.disconnect();
  replica.pause();
  // The server would still read the data in its socket.
  await near.call('client', 'kill', 'type', 'replica');
  near.disconnect();
  let session = base;
  for (let count = 0; count < 20; count++) {
    session = await store.save(withFact(session, 'count', count), { base: session });
  }
  await master.kill();
  replica.resume();
  await expect(store.save(withFact(session, 'count', 20), { base: session })).rejects.toMatchObject({
    code: 'SESSION_CONFLICT',
    kind: 'store-behind',
    expected: 21,
    actual: 1,
  });
  const loaded = await store.load('a');
  expect(loaded).toEqual(base);
  expect((await store.save(withFact(base, 'again', 1), { base })).version).toBe(2);
  await until('the channel publishes on the new master', async () => {
    const publishing = channel.publish('a', [entry(0)]).then(() => true);
    return publishing.catch(() => false);
  });
  await until('its reader has followed', () => reader.received.includes(0));
  await channel.close();
  await store.close();
});
