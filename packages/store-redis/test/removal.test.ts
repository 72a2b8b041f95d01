import { newSession } from '@holdfast/conformance';
import { RedisSessionStore, type RedisStoreOptions } from '@holdfast/store-redis';
import { beforeEach, describe, expect, test } from 'vitest';
import { newPrefix, observed, testServer } from './support/harness.ts';

const redis = testServer();
let prefix: string;
let key: string;

beforeEach(() => {
  prefix = newPrefix();
  key = `${prefix}:{0}:s:a`;
});

const opened = (options: RedisStoreOptions = {}) =>
  new RedisSessionStore({ client: redis.client, prefix, ...options });

const entries = async (index: string) => redis.client.zcard(`${prefix}:{0}:${index}`);
const INDEXES = ['c', 'l', 'd', 'x', 'c:a:tester', 'l:a:tester', 'c:s:active', 'l:s:active'];
const allEntries = async () => Promise.all(INDEXES.map(entries));

describe('the removal of a session by the server', () => {
  test('leaves stale index entries, which a list drops', async () => {
    const store = opened();
    await Promise.all(['a', 'b'].map((id) => store.create(newSession(id))));
    await store.enqueue('a', { id: 'i', content: 1 });
    await redis.client.unlink(key);
    const ids = (await store.list({ agentName: 'tester' })).sessions.map(({ sessionId }) => sessionId);
    expect(ids).toEqual(['b']);
    expect((await store.due()).sessions).toEqual([]);
    expect(await allEntries()).toEqual([2, 2, 0, 0, 1, 2, 2, 2]);
  });

  test('does not make a list return the session twice after it is created again', async () => {
    const store = opened();
    await store.create(newSession('a', { at: 1_000 }));
    await redis.client.unlink(key);
    await store.create(newSession('a', { at: 2_000 }));
    expect((await store.list()).sessions.map(({ createdAt }) => createdAt)).toEqual([2_000]);
    expect(await entries('c')).toBe(1);
  });

  test('does not drop the entry of a session that is created again before the drop', async () => {
    let happens: (() => Promise<unknown>) | undefined;
    const late = observed(redis.client, async (script) => {
      if (script === 'drop-index-entry') await happens?.();
    });
    const [store, other] = [new RedisSessionStore({ client: late, prefix }), opened()];
    await store.create(newSession('a'));
    await redis.client.unlink(key);
    happens = () => other.create(newSession('a'));
    expect((await store.list()).sessions).toEqual([]);
    expect((await other.list()).sessions).toHaveLength(1);
  });

  test('does not drop the entry of a session that is saved while a list reads it', async () => {
    let happens: (() => Promise<unknown>) | undefined;
    const late = observed(redis.client, async (what) => {
      if (what === 'read') await happens?.();
    });
    let at = 2_000_000_000_000;
    const clock = { now: () => at++, newId: () => crypto.randomUUID() };
    const [store, other] = [new RedisSessionStore({ client: late, prefix }), opened({ clock })];
    const base = await other.create(newSession('a'));
    happens = () => other.save(base, { base });
    expect((await store.list({ order: 'lastActiveAt' })).sessions).toEqual([]);
    expect((await other.list({ order: 'lastActiveAt' })).sessions).toHaveLength(1);
  });

  test('happens one hour after the expiry', async () => {
    const store = opened();
    const at = Date.now() + 60_000;
    const base = await store.create(newSession('a'), { expiry: { at } });
    expect(await redis.client.pexpiretime(key)).toBe(at + 3_600_000);
    await store.save(base, { base, expiry: null });
    expect(await redis.client.pttl(key)).toBe(-1);
    expect(await entries('x')).toBe(0);
  });

  test('does not happen to a session of a store with its own clock', async () => {
    const base = await opened({ expiry: { afterSeconds: 60 } }).create(newSession('a'));
    expect(await redis.client.pttl(key)).toBeGreaterThan(0);
    const clock = { now: () => 1_000_000, newId: () => crypto.randomUUID() };
    await opened({ clock }).save(base, { base });
    expect(await redis.client.pttl(key)).toBe(-1);
    expect(await entries('x')).toBe(1);
  });
});

describe('an expired session', () => {
  const expiry = { at: Date.now() - 1 };

  test('has no index entries after it is pruned', async () => {
    const store = opened();
    await store.create(newSession('a', { parentId: 'p' }), { expiry });
    expect(await store.prune()).toBe(1);
    expect(await allEntries()).toEqual(INDEXES.map(() => 0));
    expect(await redis.client.exists(key, `${prefix}:{0}:c:p:p`)).toBe(0);
  });

  test('is pruned by other writes', async () => {
    const store = opened({ expiry });
    for (let count = 0; count < 19; count++) await store.create(newSession(`session ${count}`));
    expect(await entries('x')).toBe(19);
    await store.create(newSession('a'));
    expect(await allEntries()).toEqual(INDEXES.map(() => 0));
  });

  test('stays until `prune` when the store has its own clock', async () => {
    const clock = { now: () => 1_000_000, newId: () => crypto.randomUUID() };
    const store = opened({ clock, expiry: { at: 0 } });
    for (let count = 0; count < 40; count++) await store.create(newSession(`session ${count}`));
    expect(await redis.client.pttl(`${prefix}:{0}:s:session 0`)).toBe(-1);
    expect(await store.prune({ limit: 30 })).toBe(30);
    expect(await entries('x')).toBe(10);
  });
});
