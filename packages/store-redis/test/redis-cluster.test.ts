import { channelTests, newSession, sessionStoreTests } from '@holdfast/conformance';
import { testCases } from '@holdfast/conformance/vitest';
import type { AgentSession } from '@holdfast/core';
import { RedisSessionChannel, RedisSessionStore } from '@holdfast/store-redis';
import { Cluster } from 'ioredis';
import { RedisCluster, until, type RedisServer } from 'test-servers';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { channelKeys } from '../src/channel/channel-keys.ts';
import { hashSlot } from '../src/channel/hash-slot.ts';
import { channelHarness, entry, Recorder } from './support/channel-harness.ts';
import { harness, newPrefix, Writer } from './support/harness.ts';
import { clusterRules, rulesOf } from './support/permissions.ts';

let cluster: RedisCluster;
let client: Cluster;

beforeAll(async () => {
  cluster = await RedisCluster.start();
  client = new Cluster(cluster.nodes);
});

afterAll(async () => {
  client.disconnect();
  await cluster.stop();
});

describe('in a Cluster', () => {
  testCases(sessionStoreTests(harness(() => client)));
});

describe('channels in a Cluster', () => {
  // The case of notifications with ids that are alike takes seconds. It passes on one server.
  const tests = channelTests(channelHarness(() => client));
  testCases(tests.filter(({ name }) => !name.startsWith('notifications: sessions')));
});

/** Starts writers on sessions in many buckets. */
async function writing(store: RedisSessionStore): Promise<Writer[]> {
  const ids = Array.from({ length: 24 }, (_, index) => `{session}:${index}`);
  return Promise.all(ids.map(async (id) => new Writer(store, await store.create(newSession(id)))));
}

/** Waits until each session has this number of new versions. */
async function goOn(writers: readonly Writer[], versions: number): Promise<void> {
  const goals = writers.map(({ session }) => session.version + versions);
  await until('all have saved', () =>
    writers.every(
      ({ session, errors }, index) => errors.length > 0 || session.version >= (goals[index] ?? 0),
    ),
  );
}

/** Asserts that every acknowledged save is stored, and stored once. */
async function expectWhole(store: RedisSessionStore, writers: readonly Writer[]): Promise<void> {
  const ended: AgentSession[] = [];
  for (const writer of writers) {
    ended.push(await writer.stop());
    expect(writer.errors).toEqual([]);
  }
  for (const session of ended) {
    expect(Writer.isWhole(session)).toBe(true);
    await expect(store.load(session.sessionId)).resolves.toEqual(session);
  }
  const { sessions } = await store.list({ limit: 100 });
  expect(sessions).toHaveLength(ended.length);
}

test('reads go to masters, even if the client sends other reads to replicas', async () => {
  const other = new Cluster(cluster.nodes, { scaleReads: 'slave' });
  const store = new RedisSessionStore({ client: other, prefix: newPrefix() });
  await cluster.each((node) => node.config('RESETSTAT'));
  for (let count = 0; count < 10; count++) {
    const { sessionId, version } = await store.create(newSession(`session ${count}`));
    await store.enqueue(sessionId, { id: 'i', content: 1 });
    await expect(store.load(sessionId)).resolves.toMatchObject({ version });
    const { inbox } = await store.claim(sessionId, { workerId: 'Ada', leaseSeconds: 60 });
    expect(inbox).toHaveLength(1);
  }
  expect((await store.list()).sessions).toHaveLength(10);
  const readers = await cluster.each(async (node) => {
    const [role] = await node.role();
    return /^cmdstat_hmget:/m.test(await node.info('commandstats')) ? [role] : [];
  });
  expect(readers.flat()).toEqual(['master', 'master', 'master']);
  other.disconnect();
});

/** Loads a session repeatedly, until `stop` is called. */
class Reader {
  readonly versions: number[] = [];
  private isOver = false;
  private readonly ended: Promise<void>;

  constructor(store: RedisSessionStore, sessionId: string) {
    this.ended = this.read(store, sessionId);
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await this.ended;
  }

  private async read(store: RedisSessionStore, sessionId: string): Promise<void> {
    while (!this.isOver) this.versions.push((await store.load(sessionId))?.version ?? 0);
  }
}

test('sessions in slots that move lose no acknowledged save', async () => {
  const prefix = newPrefix();
  const store = new RedisSessionStore({ client, prefix });
  const writers = await writing(store);
  const readers = writers.slice(0, 6).map(({ session }) => new Reader(store, session.sessionId));
  const [first, second] = await cluster.masters();
  let moved = 0;
  for (let bucket = 0; bucket < 32; bucket++) {
    const slot = await client.cluster('KEYSLOT', `{${bucket}}`);
    const to = bucket % 2 ? first : second;
    if (to && (await cluster.move(slot, to))) moved++;
  }
  expect(moved).toBeGreaterThan(10);
  await goOn(writers, 5);
  for (const reader of readers) {
    await reader.stop();
    const { versions } = reader;
    expect(versions.length).toBeGreaterThan(0);
    expect(versions).toEqual(versions.toSorted((left, right) => left - right));
    expect(versions).not.toContain(0);
  }
  await expectWhole(store, writers);
});

// oxlint-disable-next-line vitest/expect-expect -- `expectWhole` does
test('sessions of a killed master lose no save that its replica has', async () => {
  const store = await RedisSessionStore.open({ cluster: cluster.nodes, prefix: newPrefix() });
  const writers = await writing(store);
  await goOn(writers, 5);
  const [master] = await cluster.masters();
  await master?.server.kill();
  await goOn(writers, 5);
  await expectWhole(store, writers);
  await store.close();
  await master?.server.restart();
  await cluster.healed(3);
});

/** A session whose tail is on a server of the Cluster. */
async function sessionOn(server: RedisServer | undefined): Promise<string> {
  for (let n = 0; ; n++)
    if ((await cluster.masterOf(slotOf(`session ${n}`))) === server) return `session ${n}`;
}

function slotOf(sessionId: string): number {
  return hashSlot(channelKeys('', 0, sessionId).tail);
}

/** Subscribes a recorder, as soon as that succeeds. */
async function reading(channel: RedisSessionChannel, sessionId: string): Promise<Recorder> {
  const reader = new Recorder();
  onTestFinished(reader.abort);
  await until('the reader can subscribe', () =>
    succeeds(channel.subscribe(sessionId, reader.listener, reader)),
  );
  return reader;
}

/** Opens a channel, as soon as that succeeds: its first request can go to a master that hangs. */
async function openChannel(prefix: string): Promise<RedisSessionChannel> {
  const opened: RedisSessionChannel[] = [];
  const open = async (): Promise<void> => {
    opened.push(await RedisSessionChannel.open({ cluster: cluster.nodes, prefix }));
  };
  await until('the channel can be opened', () => succeeds(open()));
  const [channel] = opened;
  if (!channel) throw new Error('No channel was opened.');
  onTestFinished(() => channel.close());
  return channel;
}

function succeeds(call: Promise<unknown>): Promise<boolean> {
  return call.then(
    () => true,
    () => false,
  );
}

/** The numbers that a reader has received. An entry whose publication had no reply is published twice. */
function shown({ received }: Recorder): readonly (number | 'gap')[] {
  return [...new Set(received.filter((each) => each !== 'gap'))];
}

test('a reader receives no gap because another master is slow to confirm a subscription', async () => {
  const [near, slow] = await cluster.masters();
  const [early, late] = [await sessionOn(near?.server), await sessionOn(slow?.server)];
  const nodes = [{ host: '127.0.0.1', port: near?.server.port ?? 0 }];
  const options = new Cluster(nodes, { lazyConnect: true, enableReadyCheck: false });
  await cluster.each(async (node, server) => server === slow?.server && node.call('CLIENT', 'PAUSE', 500));
  const channel = new RedisSessionChannel({ client: options, prefix: newPrefix() });
  onTestFinished(() => channel.close());
  const [reader] = await Promise.all([reading(channel, early), reading(channel, late)]);
  await channel.publish(early, [entry(0)]);
  await until('the reader has it', () => reader.received.includes(0));
  expect(reader.received).toEqual([0]);
});

/** A reader that has read entry 0 of a session on a master. `check` makes the check of each channel due. */
async function readerOf() {
  vi.useFakeTimers({ toFake: ['setInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const prefix = newPrefix();
  const [first] = await cluster.masters();
  if (!first) throw new Error('The Cluster has no master.');
  const master = first.server;
  const sessionId = await sessionOn(master);
  const reader = await reading(await openChannel(prefix), sessionId);
  const worker = await openChannel(prefix);
  await worker.publish(sessionId, [entry(0)]);
  await until('the reader has the first entry', () => reader.received.includes(0));
  const check = (): void => void vi.advanceTimersByTime(15_000);
  return { check, reader, sessionId, prefix, worker, master };
}

test('a reader follows a slot that moves, and reads on while it moves', async () => {
  const { check, reader, sessionId, worker, master } = await readerOf();
  const target = (await cluster.masters()).find(({ server }) => server !== master);
  if (!target) throw new Error('The Cluster has one master only.');
  await cluster.move(slotOf(sessionId), target, async () => {
    await published(worker, sessionId, 1);
    await until('the reader has the next entry', () => {
      check(); // the new master has no subscriber yet
      return reader.received.includes(1);
    });
  });
  await published(worker, sessionId, 2);
  await until('the reader has the last entry', () => reader.received.includes(2));
  expect(shown(reader)).toEqual([0, 1, 2]);
});

test('the permissions of the README suffice, also while a slot moves', async () => {
  await cluster.each(async (node) => {
    for (const user of ['store', 'channel'])
      await node.call('ACL', 'SETUSER', user, ...rulesOf(user), ...clusterRules());
  });
  const of = (username: string) => ({
    cluster: cluster.nodes,
    clusterOptions: { redisOptions: { username, password: 'password' } },
  });
  const store = await RedisSessionStore.open(of('store'));
  onTestFinished(() => store.close());
  const channel = await RedisSessionChannel.open(of('channel'));
  onTestFinished(() => channel.close());
  const { sessionId } = await store.create(newSession('a'));
  expect((await store.list()).sessions).toHaveLength(1);
  const reader = await reading(channel, sessionId);
  const [first, second] = await cluster.masters();
  const target = (await cluster.masterOf(slotOf(sessionId))) === first?.server ? second : first;
  await channel.publish(sessionId, [entry(0)]);
  if (target) await cluster.move(slotOf(sessionId), target, () => channel.publish(sessionId, [entry(1)]));
  await until('the reader has followed', () => reader.received.includes(1));
  expect(shown(reader)).toEqual([0, 1]);
});

test('a reader follows a planned failover', async () => {
  const { reader, sessionId, worker, master } = await readerOf();
  await replace(master);
  await published(worker, sessionId, 1);
  await until('the reader has the next entry', () => reader.received.includes(1));
  expect(shown(reader)).toEqual([0, 1]);
  await cluster.healed(3);
});

/** Makes the replica of a master the master. */
async function replace(master: RedisServer | undefined): Promise<void> {
  await cluster.each(async (node) => {
    const [role, , port] = await node.role();
    if (role === 'slave' && port === master?.port) await node.cluster('FAILOVER');
  });
  await until('the replica is the master', async () => {
    const masters = await cluster.masters();
    return masters.every(({ server }) => server !== master);
  });
}

/** Publishes an entry, as soon as that succeeds. */
async function published(channel: RedisSessionChannel, sessionId: string, n: number): Promise<void> {
  await until(`entry ${n} is published`, () => succeeds(channel.publish(sessionId, [entry(n)])));
}

test('a reader leaves a master that hangs for the replica that has replaced it', async () => {
  const { check, reader, sessionId, prefix, master } = await readerOf();
  onTestFinished(() => master.resume());
  master.pause();
  await until(
    'the replica is the master',
    async () => (await cluster.masterOf(slotOf(sessionId))) !== undefined,
  );
  const worker = await openChannel(prefix);
  await published(worker, sessionId, 1);
  await until('the reader has the next entry', () => {
    check();
    return reader.received.includes(1);
  });
  master.resume();
  await cluster.healed(3);
  await published(worker, sessionId, 2);
  await until('the reader has the last entry', () => reader.received.includes(2));
  expect(shown(reader)).toEqual([0, 1, 2]);
});

test('channels of a killed master continue with its replica', async () => {
  const worker = await openChannel(newPrefix());
  const ids = Array.from({ length: 12 }, (_, index) => `session ${index}`);
  const readers = await Promise.all(ids.map(async (id) => reading(worker, id)));
  await Promise.all(ids.map((id) => published(worker, id, 0)));
  await until('all have read it', () => readers.every(({ received }) => received.includes(0)));
  expect(readers.map(shown)).toEqual(readers.map(() => [0]));
  let n = 1;
  const publishAll = async (): Promise<void> => {
    const batch = [entry(n++)];
    await Promise.allSettled(ids.map((id) => worker.publish(id, batch)));
  };
  const [master] = await cluster.masters();
  const lateId = await sessionOn(master?.server);
  await cluster.each((node) => node.config('RESETSTAT'));
  master?.server.pause();
  const subscribing = reading(worker, lateId); // the server does not confirm it any more
  await master?.server.kill();
  readers.push(await subscribing);
  ids.push(lateId);
  const before = n;
  await until('all have read on', async () => {
    await publishAll();
    return readers.every(({ received }) => Number(received.findLast((each) => each !== 'gap')) > before + 1);
  });
  const requests = await cluster.each(async (node) =>
    Number(/^cmdstat_ssubscribe:calls=(\d+)/m.exec(await node.info('commandstats'))?.[1] ?? 0),
  );
  expect(Math.max(...requests)).toBeLessThanOrEqual(4 * readers.length); // lost subscriptions only, with retries
  for (const reader of readers) {
    const numbers = shown(reader).map(Number);
    expect(numbers).toEqual(numbers.toSorted((one, other) => one - other));
  }
  await master?.server.restart();
  await cluster.healed(3);
});
