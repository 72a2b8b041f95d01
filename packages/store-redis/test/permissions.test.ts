import { newSession, START, withFact } from '@holdfast/conformance';
import { RedisSessionChannel, RedisSessionStore, RedisSpendingLedger } from '@holdfast/store-redis';
import { Redis } from 'ioredis';
import { until } from 'test-servers';
import { expect, onTestFinished, test } from 'vitest';
import { once } from 'node:events';
import { LUA } from '../src/scripts/lua.ts';
import { entry, Recorder } from './support/channel-harness.ts';
import { observed, testServer } from './support/harness.ts';
import { rulesOf } from './support/permissions.ts';

const server = testServer();

/** Uses each feature of a part under a prefix. */
type UsePart = (url: string, prefix: string) => Promise<void>;

const useStore: UsePart = async (url, prefix) => {
  const store = await RedisSessionStore.open({ url, prefix });
  onTestFinished(() => store.close());
  const base = await store.create(newSession('a'));
  let latest = await store.save(withFact(base, 'count', 1), { base });
  const client = new Redis(url);
  onTestFinished(() => client.disconnect());
  const busy = observed(client, async (what) => {
    if (what === 'read') latest = await store.save(withFact(latest, 'n', latest.version), { base: latest });
  });
  // The store reads a session that changes meanwhile in a transaction.
  expect(await new RedisSessionStore({ client: busy, prefix }).load('a')).toEqual(latest);
  await store.enqueue('a', { id: 'i', content: 1 });
  await store.claim('a', { workerId: 'Ada', leaseSeconds: 60 });
  await store.announce({ workerName: 'Ada', since: START, sessionIds: [] }, 60);
  expect(await store.workers()).toHaveLength(1);
  expect((await store.list({ agentName: 'tester' })).sessions).toHaveLength(1);
  await store.prune();
  expect(await store.delete('a')).toBe(true);
};

const useChannel: UsePart = async (url, prefix) => {
  const channel = await RedisSessionChannel.open({ url, prefix });
  onTestFinished(() => channel.close());
  const reader = new Recorder();
  await channel.subscribe('a', reader.listener, reader);
  await channel.publish('a', [entry(0)]);
  await channel.publish('a', [entry(1)], { trim: true });
  await until('the reader has both', () => reader.received.includes(1));
  const notified = new Promise((resolve) => channel.onNotification('a', resolve));
  await channel.notify('a', { type: 'look' });
  expect(await notified).toEqual({ type: 'look' });
  reader.abort();
  await until('the server ends the subscription', async () => {
    const channels = await server.client.call('PUBSUB', 'SHARDCHANNELS', `${prefix}:*:w0:a`);
    return Array.isArray(channels) && channels.length === 0;
  });
};

const useLedger: UsePart = async (url, prefix) => {
  const ledger = await RedisSpendingLedger.open({ url, prefix });
  onTestFinished(() => ledger.close());
  const calls = ['a', 'b'].map((inferenceId) => ({ owner: 'acme', inferenceId }));
  for (const call of calls) await ledger.reserve({ ...call, amount: 1, limits: {}, expiresInSeconds: 60 });
  for (const call of calls) await ledger.settle({ ...call, amount: 1 });
  expect((await ledger.read('acme')).total.spent).toBe(2);
};

interface Part {
  readonly user: string;
  readonly prefix: string;
  readonly scripts: readonly (keyof typeof LUA)[];
  readonly use: UsePart;
}

const PARTS: readonly Part[] = [
  {
    user: 'store',
    prefix: 'holdfast',
    scripts: ['compare-and-set', 'drop-index-entry', 'prepare-prefix', 'read-index', 'workers'],
    use: useStore,
  },
  { user: 'channel', prefix: 'holdfast', scripts: ['publish-entries', 'notify-worker'], use: useChannel },
  { user: 'ledger', prefix: 'holdfast-spending', scripts: ['spend'], use: useLedger },
];

/** Creates a user with its line of the README. Returns its URL and its commands. */
async function createUser(user: string): Promise<{ readonly url: string; readonly commands: string[] }> {
  const rules = rulesOf(user);
  await server.client.call('ACL', 'SETUSER', user, ...rules);
  const commands = rules.filter((rule) => rule.startsWith('+')).map((rule) => rule.slice(1));
  return { url: `redis://${user}:password@127.0.0.1:${server.port}`, commands };
}

/** The commands that the server has executed, also those of scripts. */
async function executed(): Promise<readonly string[]> {
  const stats = await server.client.info('commandstats');
  const names = [...stats.matchAll(/^cmdstat_(\S+?):calls=[1-9]/gmu)].map(([, name = '']) => name);
  return names.filter((name) => !/^(?:auth|hello|acl|config|pubsub)\b/.test(name));
}

function commandsOf(script: keyof typeof LUA): readonly string[] {
  const names = [...LUA[script].matchAll(/call\('([A-Z]+)'/gu)].map(([, name = '']) => name.toLowerCase());
  return names.map((name) => (name === 'xinfo' ? 'xinfo|stream' : name));
}

test.each(PARTS)(
  'the $user needs the commands of its line, and no others',
  async ({ user, prefix, ...part }) => {
    const { url, commands } = await createUser(user);
    await server.client.config('RESETSTAT');
    await part.use(url, prefix);
    const needed = new Set([...(await executed()), ...part.scripts.flatMap(commandsOf)]);
    expect(commands.toSorted()).toEqual([...needed].toSorted());
  },
);

test.each(PARTS)('the user of the $user has no access to other prefixes', async ({ user, prefix, use }) => {
  const { url } = await createUser(user);
  for (const other of [`${prefix}2`, `${prefix}:2`, `${prefix}:meta`])
    await expect(use(url, other)).rejects.toThrow('NOPERM');
});

test.each(PARTS)('the $user writes to its database, or not at all', async ({ user, prefix, use }) => {
  const { url } = await createUser(user);
  await expect(use(`${url}/1`, prefix)).rejects.toThrow('NOPERM');
  await server.client.call('ACL', 'SETUSER', user, '+select');
  await expect(use(`${url}/99`, prefix)).rejects.toThrow('DB index is out of range');
  const sizeOf = async (database: number): Promise<string | undefined> =>
    new RegExp(`^db${database}:keys=(\\d+)`, 'm').exec(await server.client.info('keyspace'))?.[1];
  const before = await sizeOf(0);
  await use(`${url}/1`, prefix);
  expect(await sizeOf(0)).toBe(before);
  expect(Number(await sizeOf(1))).toBeGreaterThan(0);
});

test('a store whose next connection may not use its database writes nothing', async () => {
  const { url } = await createUser('store');
  await server.client.call('ACL', 'SETUSER', 'store', '+select');
  const client = new Redis(`${url}/2`);
  onTestFinished(() => client.disconnect());
  const store = new RedisSessionStore({ client });
  await store.create(newSession('a'));
  await server.client.call('ACL', 'SETUSER', 'store', '-select');
  const closed = once(client, 'close');
  await server.client.call('CLIENT', 'KILL', 'USER', 'store');
  await closed;
  await expect(store.create(newSession('b'))).rejects.toThrow('NOPERM');
  await server.client.call('ACL', 'SETUSER', 'store', '+select');
  await store.create(newSession('b'));
  expect((await store.list()).sessions).toHaveLength(2);
});

test.each(['holdfast2:{0}:w0:a', 'holdfast:2:{0}:w0:a'])(
  'the channel refuses the channel %s',
  async (name) => {
    const { url } = await createUser('channel');
    const client = new Redis(url);
    onTestFinished(() => client.disconnect());
    await expect(client.spublish(name, 'text')).rejects.toThrow('NOPERM');
    await expect(client.ssubscribe(name)).rejects.toThrow('NOPERM');
  },
);
