import { newSession, withFact } from '@holdfast/conformance';
import { AgentState, userMessage } from '@holdfast/core';
import { RedisSessionStore, type RedisStoreOptions } from '@holdfast/store-redis';
import { beforeEach, describe, expect, test } from 'vitest';
import { newPrefix, testServer } from '../support/harness.ts';

const redis = testServer();
let prefix: string;
let key: string;

beforeEach(() => {
  prefix = newPrefix();
  key = `${prefix}:{0}:s:a`;
});

const opened = (options: RedisStoreOptions = {}) =>
  new RedisSessionStore({ client: redis.client, prefix, ...options });

/** A session with three messages. The second message is long enough to be deflated. */
const sample = () => {
  const texts = ['one', 'two '.repeat(2_000), 'three'];
  const messages = texts.map((text) => userMessage(text));
  return newSession('a', { state: AgentState.empty().withMessages(messages) });
};

/** Damages the head: a list gets a length that no list can have. */
async function hugeList(at: string): Promise<void> {
  const head = (await redis.client.hget(at, 'h')) ?? '';
  await redis.client.hset(
    at,
    'h',
    head.replace('["messages:messages",3,', '["messages:messages",9007199254740991,'),
  );
}

describe('a session', () => {
  test('is one hash, and texts from 4 KB on are deflated', async () => {
    const created = await opened().create(sample());
    const hash = await redis.client.hgetallBuffer(key);
    expect(Object.keys(hash).toSorted()).toEqual(
      ['h', 'l:messages:messages:0', 'l:messages:messages:1', 'l:messages:messages:2'].concat([
        'n:messages:messages',
        'r',
        't',
        'v:definition',
        'w',
      ]),
    );
    expect(hash['l:messages:messages:0']?.toString()).toBe(JSON.stringify(created.state.messages.at(0)));
    expect(hash['l:messages:messages:1']?.length).toBeLessThan(400);
    expect(hash['l:messages:messages:1']?.[0]).toBe(1);
    expect(await redis.client.type(key)).toBe('hash');
  });

  test.each([
    ['an element is missing', (at: string) => redis.client.hdel(at, 'l:messages:messages:1')],
    ['the length of a list is missing', (at: string) => redis.client.hdel(at, 'n:messages:messages')],
    [
      'a list is shorter than the head states',
      (at: string) => redis.client.hset(at, 'n:messages:messages', 2),
    ],
    ['the head is missing', (at: string) => redis.client.hdel(at, 'h')],
    ['a value is missing', (at: string) => redis.client.hdel(at, 'v:definition')],
    ['the record is missing', (at: string) => redis.client.hdel(at, 'r')],
    ['the record is of another write', (at: string) => redis.client.hset(at, 'w', 'x'.repeat(12))],
    ['the head names more elements than a list can have', hugeList],
    ['a field has an unknown encoding', (at: string) => redis.client.hset(at, 'h', Buffer.from([9, 1, 2]))],
    ['a deflated field is damaged', (at: string) => redis.client.hset(at, 'h', Buffer.from([1, 255, 255]))],
    ['a field is not JSON', (at: string) => redis.client.hset(at, 'r', '{"info"')],
  ])('of which %s is refused and stays unchanged', async (_, damage) => {
    const store = opened();
    await store.create(sample());
    await damage(key);
    const before = await redis.client.hgetallBuffer(key);
    await expect(store.load('a')).rejects.toMatchObject({ code: 'STATE_FORMAT' });
    expect(await redis.client.hgetallBuffer(key)).toEqual(before);
  });

  test('has no fields of the removed elements of a list', async () => {
    const store = opened();
    const base = await store.create(sample());
    const shorter = base.state.withMessages(base.state.messages.slice(0, 1));
    const saved = await store.save(base.withState(shorter), { base });
    const fields = await redis.client.hkeys(key);
    expect(fields.filter((field) => field.startsWith('l:'))).toEqual(['l:messages:messages:0']);
    await store.save(saved.withState(shorter.withMessages([])));
    expect((await redis.client.hkeys(key)).filter((field) => /^[ln]:/.test(field))).toEqual([]);
  });

  test('has no fields of an expired session with the same id', async () => {
    const store = opened();
    await store.create(sample(), { expiry: { at: Date.now() - 1 } });
    await store.create(newSession('a'));
    expect((await redis.client.hkeys(key)).toSorted()).toEqual(['h', 'r', 't', 'v:definition', 'w']);
    expect(await redis.client.zcard(`${prefix}:{0}:x`)).toBe(0);
  });

  test('holds the tokens of its last 16 writes', async () => {
    const store = opened();
    const tokens = new Set<string>();
    let session = await store.create(newSession('a'));
    for (let count = 0; count < 200; count++) {
      session = await store.save(withFact(session, 'count', count), { base: session });
      const [present = '', earlier = ''] = await redis.client.hmget(key, 'w', 't');
      expect(present).toHaveLength(12);
      expect(earlier).toHaveLength(12 * Math.min(count + 1, 15));
      expect(tokens).not.toContain(present);
      tokens.add(present ?? '');
    }
    expect(tokens.size).toBe(200);
  });

  test('that is unreadable is named in the error', async () => {
    const store = opened();
    await store.create(sample());
    await redis.client.hdel(key, 'l:messages:messages:1');
    await expect(store.load('a')).rejects.toThrow(/session "a".*element 1 of "messages:messages"/);
  });

  test('whose record is unreadable, or whose key has another type, hides no other session', async () => {
    const store = opened();
    await store.create(sample());
    await store.create(newSession('b'));
    for (const id of ['a', 'b']) await store.enqueue(id, { id: 'item', content: 1 });
    await redis.client.hset(key, 'r', '{"schema":99}');
    for (const damage of [async () => undefined, async () => redis.client.set(key, 'text')]) {
      await damage();
      for (const page of [await store.list(), await store.due()]) {
        expect(page.sessions.map(({ sessionId }) => sessionId)).toEqual(['b']);
        expect(page.unreadable).toMatchObject([{ sessionId: 'a', error: { code: 'STATE_FORMAT' } }]);
      }
    }
    await redis.client.del(key);
    await redis.client.hset(key, 'w', 'token', 'r', '{"schema":99}');
    await expect(store.claim('a', { workerId: 'next', leaseSeconds: 1 })).rejects.toThrow('session "a"');
    await expect(store.claim('b', { workerId: 'next', leaseSeconds: 1 })).resolves.toBeDefined();
  });

  test('whose record cannot be read can be deleted, and is on no list then', async () => {
    const store = opened();
    for (const id of ['a', 'b']) await store.create(newSession(id));
    await redis.client.hset(key, 'r', '{"schema":99}');
    const { revision } = newSession('a');
    await expect(store.delete('a', { revision })).rejects.toMatchObject({ code: 'STATE_FORMAT' });
    await expect(store.delete('a')).resolves.toBe(true);
    await expect(store.delete('a')).resolves.toBe(false);
    expect(await redis.client.exists(key)).toBe(0);
    expect((await store.list()).sessions.map(({ sessionId }) => sessionId)).toEqual(['b']);
    await expect(store.create(newSession('a'))).resolves.toBeDefined();
  });

  test('is not read from a key of another type, which stays unchanged', async () => {
    await redis.client.set(key, 'mine');
    const store = opened();
    const asks = [() => store.load('a'), () => store.create(newSession('a')), () => store.delete('a')];
    for (const ask of asks) {
      const message = expect.stringContaining(JSON.stringify(key));
      await expect(ask()).rejects.toMatchObject({ code: 'STATE_FORMAT', message });
    }
    expect(await redis.client.get(key)).toBe('mine');
  });

  test('with a list that is shorter than the store expects is not written', async () => {
    const store = opened();
    const base = await store.create(sample());
    await redis.client.hset(key, 'n:messages:messages', 2);
    const before = await redis.client.hgetallBuffer(key);
    const next = base.withState(base.state.withUserMessage('four'));
    await expect(store.save(next, { base })).rejects.toMatchObject({ code: 'STATE_FORMAT' });
    expect(await redis.client.hgetallBuffer(key)).toEqual(before);
  });

  test('with a value above the limit is refused before the store sends a command', async () => {
    const store = opened({ maxValueBytes: 10_000 });
    const base = await store.create(newSession('a'));
    const large = 'x'.repeat(10_000);
    await expect(store.save(withFact(base, 'n', large), { base })).rejects.toMatchObject({
      code: 'SESSION_TOO_LARGE',
      data: { sessionId: 'a', bytes: 10_008, limit: 10_000 },
    });
    await expect(store.enqueue('a', { id: 'i', content: large })).rejects.toMatchObject({
      code: 'SESSION_TOO_LARGE',
    });
    await expect(store.load('a')).resolves.toEqual(base);
  });

  test('with a full inbox of items with long ids can be claimed and saved', async () => {
    const store = opened({ maxValueBytes: 10_000, maxInboxItems: 100 });
    await store.create(newSession('a'));
    const ids = Array.from({ length: 100 }, (_, index) => String(index).padStart(1_000, '0'));
    for (const id of ids) await store.enqueue('a', { id, content: null });
    await expect(store.enqueue('a', { id: 'i', content: null })).rejects.toMatchObject({
      code: 'INBOX_FULL',
    });
    const { inbox, session, claim } = await store.claim('a', { workerId: 'Ada', leaseSeconds: 60 });
    expect(inbox.map(({ id }) => id)).toEqual(ids);
    await store.save(session, { base: session, epoch: claim.epoch, acknowledge: inbox });
    await expect(store.load('a')).resolves.toMatchObject({ version: 2 });
    expect((await redis.client.hkeys(key)).filter((field) => /^[qk]:/.test(field))).toEqual([]);
  });

  test('has a field for each inbox item, and a field for the position of each item id', async () => {
    const store = opened();
    await store.create(newSession('a'));
    for (const id of ['i', 'j']) await store.enqueue('a', { id, content: id });
    const hash = await redis.client.hgetall(key);
    expect(JSON.parse(hash['q:1'] ?? '')).toMatchObject({ id: 'j', content: 'j' });
    expect([hash['k:i'], hash['k:j']]).toEqual(['0', '1']);
  });

  test('with a damaged inbox item returns the other items', async () => {
    const store = opened();
    await store.create(newSession('a'));
    for (const id of ['i', 'j', 'k']) await store.enqueue('a', { id, content: id });
    await redis.client.hset(key, 'q:0', Buffer.from([9, 1, 2]));
    await redis.client.hdel(key, 'q:1');
    const { inbox, unreadable } = await store.claim('a', { workerId: 'Ada', leaseSeconds: 60 });
    expect(inbox.map(({ id }) => id)).toEqual(['k']);
    expect(unreadable.map(({ position, error }) => [position, error.code])).toEqual([
      [0, 'STATE_FORMAT'],
      [1, 'STATE_FORMAT'],
    ]);
  });
});

test('an item that is acknowledged under the id of another item is refused and keeps its id', async () => {
  const store = opened();
  const base = await store.create(newSession('a'));
  for (const id of ['first', 'second']) await store.enqueue('a', { id, content: null });
  const refused = store.save(base, { acknowledge: [{ id: 'second', position: 0 }] });
  await expect(refused).rejects.toMatchObject({ code: 'ARGUMENT_INVALID' });
  await expect(store.enqueue('a', { id: 'first', content: null })).resolves.toBe(false);
  await expect(store.save(base, { acknowledge: [{ id: 'first', position: 0 }] })).resolves.toBeDefined();
});
