import { newSession } from '@holdfast/conformance';
import type { AgentSession } from '@holdfast/core';
import { RedisSessionChannel, RedisSessionStore } from '@holdfast/store-redis';
import { Cluster } from 'ioredis';
import { RedisCluster, until } from 'test-servers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { channelHarness, entry, Recorder, testChannelConformance } from './support/channel-harness.ts';
import { harness, testConformance, newPrefix, Writer } from './support/harness.ts';

let cluster: RedisCluster;
let client: Cluster;

beforeAll(async () => {
  cluster = await RedisCluster.start();
  client = new Cluster(cluster.nodes);
}, 60_000);

afterAll(async () => {
  client.disconnect();
  await cluster.stop();
});

describe('in a Cluster', () => {
  testConformance(harness(() => client));
});

describe('channels in a Cluster', () => {
  // The case of notifications with ids that are alike takes seconds. It passes on one server.
  testChannelConformance(
    channelHarness(() => client),
    (name) => !name.startsWith('notifications: sessions'),
  );
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
}, 60_000);

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
}, 60_000);

test('channels of a killed master continue with its replica', async () => {
  const worker = await RedisSessionChannel.open({ cluster: cluster.nodes, prefix: newPrefix() });
  const readers = Array.from({ length: 12 }, () => new Recorder());
  await Promise.all(
    readers.map((reader, index) => worker.subscribe(`session ${index}`, reader.listener, reader)),
  );
  let n = 0;
  const publishAll = async (): Promise<void> => {
    const batch = [entry(n++)];
    await Promise.allSettled(readers.map((_, index) => worker.publish(`session ${index}`, batch)));
  };
  await publishAll();
  await until('all have read it', () => readers.every(({ received }) => received.length === 1));
  const [master] = await cluster.masters();
  await master?.server.kill();
  const before = n;
  await until('all have read on', async () => {
    await publishAll();
    return readers.every(({ received }) => Number(received.findLast((each) => each !== 'gap')) > before + 1);
  });
  for (const { received, abort } of readers) {
    const shown = received.filter((each) => each !== 'gap');
    expect(shown).toEqual(shown.toSorted((one, other) => one - other));
    abort();
  }
  await worker.close();
  await master?.server.restart();
  await cluster.healed(3);
}, 60_000);
