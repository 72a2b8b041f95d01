import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { newSession, testClock } from '@holdfast/conformance';
import { hasErrorCode, type SessionStore } from '@holdfast/core';
import type { ClaimedSession, InboxItem } from '@holdfast/core/store';
import { expect, test } from 'vitest';
import { itemNameIn } from '../../src/inbox/inbox-keys.ts';
import { interleaved } from '../support/interleaved.ts';
import { randomFrom } from '../support/random.ts';
import type { Fault } from '../support/request-proxy.ts';
import { isFlip, keysOf, putKeysIn } from '../support/stored-items.ts';
import { testBlobs } from '../support/test-blobs.ts';
import { testDatabase } from '../support/test-database.ts';

const database = testDatabase();
const ENQUEUE = fileURLToPath(new URL('../children/enqueue.ts', import.meta.url));
const ADA = { workerId: 'Ada', leaseSeconds: 60 };
const SEED = Number(process.env['SEED'] ?? 20_261_122);
const EFFORT = Number(process.env['EFFORT'] ?? 1);

interface Pair {
  readonly table: string;
  readonly store: SessionStore;
  readonly other: SessionStore;
}

/** Two stores on a table with a session. The client does not retry when a reply does not arrive. */
async function newPair(): Promise<Pair> {
  const table = await database.newTable();
  const clock = testClock();
  const newStore = (): Promise<SessionStore> => database.newStore({ table, clock, maxAttempts: 1 });
  const [store, other] = [await newStore(), await newStore()];
  await store.create(newSession('a'));
  await other.exists('a');
  return { table, store, other };
}

/** Enqueues an item, and dies before the header is written. */
async function enqueueAndDie(store: SessionStore, id: string): Promise<void> {
  database.proxy.fault = async (request, forward) => (isFlip(request) ? 'cut' : forward());
  await expect(store.enqueue('a', { id, content: 'lost' })).rejects.toMatchObject({ isAmbiguous: true });
  database.proxy.fault = undefined;
}

/** Calls `deed` before or after the nth request from now on. */
function atRequest(
  nth: number,
  when: 'before' | 'after',
  deed: () => Promise<unknown>,
): { readonly fault: Fault; isDone: boolean } {
  let count = 0;
  const hook = {
    isDone: false,
    fault: (async (_, forward) => {
      if (hook.isDone || ++count !== nth) return forward();
      hook.isDone = true;
      if (when === 'before') await deed();
      const reply = await forward();
      if (when === 'after') await deed();
      return reply;
    }) as Fault,
  };
  return hook;
}

/** The positions that have rows or markers in the table. */
async function positionsOf(table: string, kind: 'I' | 'J'): Promise<number[]> {
  const keys = await keysOf(database.client(), table, 'a', kind);
  return keys.map((key) => itemNameIn(key)?.position ?? -1).toSorted((left, right) => left - right);
}

async function use(
  store: SessionStore,
  { session, claim }: ClaimedSession,
  items: readonly InboxItem[],
): Promise<ClaimedSession> {
  const saved = await store.save(session, { base: session, epoch: claim.epoch, acknowledge: items });
  const { inbox, unreadable } = await store.renew(claim, ADA);
  return { session: saved, claim, inbox, unreadable, attempt: 1 };
}

const contentsOf = (inbox: readonly InboxItem[]): string[] => inbox.map(({ content }) => content as string);

test('rows of writers that died are not returned, and are removed with the accepted rows', async () => {
  const { table, store, other } = await newPair();
  for (const id of ['0', '1', '2']) {
    await enqueueAndDie(other, `x${id}`);
    await enqueueAndDie(other, id); // the same item, for each writer
    await store.enqueue('a', { id, content: id });
    await enqueueAndDie(other, `y${id}`);
  }
  await expect(positionsOf(table, 'I')).resolves.toEqual([0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3]);
  const claimed = await store.claim('a', ADA);
  expect(contentsOf(claimed.inbox)).toEqual(['0', '1', '2']);
  for (const id of ['0', '1', '2']) {
    await expect(store.enqueue('a', { id, content: 'again' })).resolves.toBe(false);
  }
  // The process that died may retry.
  await expect(other.enqueue('a', { id: 'x1', content: 'x1' })).resolves.toBe(true);
  const all = await store.renew(claimed.claim, ADA);
  expect(contentsOf(all.inbox)).toEqual(['0', '1', '2', 'x1']);
  await use(store, claimed, all.inbox);
  await expect(positionsOf(table, 'I')).resolves.toEqual([]);
  await expect(positionsOf(table, 'J')).resolves.toEqual([]);
});

test.each([
  [[1], [0], [2]],
  [[2], [1], [0]],
  [[1], [2], [0]],
  [[0], [2], [1]],
  [[0, 2], [1]],
  [[1, 2], [0]],
])('items can be used in any order: %j first', async (...order) => {
  const { table, store, other } = await newPair();
  for (const id of ['0', '1', '2']) {
    await enqueueAndDie(other, `x${id}`);
    await store.enqueue('a', { id, content: id });
    await enqueueAndDie(other, `y${id}`);
  }
  const left = new Set(['0', '1', '2']);
  let claimed = await store.claim('a', ADA);
  for (const positions of order.filter((each) => each !== undefined)) {
    claimed = await use(
      store,
      claimed,
      claimed.inbox.filter(({ position }) => positions.includes(position)),
    );
    for (const position of positions) left.delete(String(position));
    expect(contentsOf(claimed.inbox)).toEqual([...left]);
    for (const id of left) await expect(store.enqueue('a', { id, content: 'again' })).resolves.toBe(false);
  }
  // The rows of the last writer that died are at a position that is still free.
  await expect(positionsOf(table, 'I')).resolves.toEqual([3]);
  await expect(positionsOf(table, 'J')).resolves.toEqual([3]);
});

test('an item that no worker uses does not stop the removal of the items after it', async () => {
  const { table, store } = await newPair();
  for (let index = 0; index < 30; index++)
    await store.enqueue('a', { id: `${index}`, content: String(index) });
  let claimed = await store.claim('a', ADA);
  for (let turn = 0; turn < 28; turn++) claimed = await use(store, claimed, claimed.inbox.slice(1, 2));
  expect(contentsOf(claimed.inbox)).toEqual(['0', '29']);
  await expect(positionsOf(table, 'I')).resolves.toEqual([0, 1, 29]);
});

test('a process that is killed before its flip has enqueued no item', async () => {
  const { table, store } = await newPair();
  const flags = ['--conditions=@holdfast/source', '--no-warnings'];
  const child = spawn(process.execPath, [...flags, ENQUEUE, database.proxy.endpoint, table]);
  const exited = once(child, 'exit');
  database.proxy.fault = async (request, forward) => {
    if (!isFlip(request)) return forward();
    child.kill('SIGKILL');
    return 'cut';
  };
  expect((await exited)[1]).toBe('SIGKILL');
  database.proxy.fault = undefined;
  await expect(positionsOf(table, 'I')).resolves.toEqual([0]);
  await expect(store.enqueue('a', { id: 'i', content: 'kept' })).resolves.toBe(true);
  await expect(store.enqueue('a', { id: 'victim', content: 'found' })).resolves.toBe(true);
  const claimed = await store.claim('a', ADA);
  expect(contentsOf(claimed.inbox)).toEqual(['kept', 'found']);
  await use(store, claimed, claimed.inbox);
  await expect(positionsOf(table, 'I')).resolves.toEqual([]);
});

test.each(['A', 'I#'])(
  'a writer that stalls at its write of %s until its position was used enqueues at a later position',
  async (kind) => {
    const { table, store, other } = await newPair();
    let isHeldUp = false;
    database.proxy.fault = async (request, forward) => {
      if (isHeldUp || !putKeysIn(request).some((key) => key.startsWith(kind))) return forward();
      isHeldUp = true;
      await other.enqueue('a', { id: 'faster', content: 'faster' });
      const { claim } = await use(other, await other.claim('a', ADA), [
        { id: 'faster', position: 0, content: '', enqueuedAt: 0 },
      ]);
      await other.release(claim);
      return forward();
    };
    await expect(store.enqueue('a', { id: 'slow', content: 'slow' })).resolves.toBe(true);
    expect(isHeldUp).toBe(true);
    const claimed = await store.claim('a', ADA);
    expect(claimed.inbox).toMatchObject([{ content: 'slow', position: 1 }]);
    await use(store, claimed, claimed.inbox);
    await expect(positionsOf(table, 'I')).resolves.toEqual([]);
    await expect(positionsOf(table, 'J')).resolves.toEqual([]);
  },
);

/** The work of another writer. Returns whether it has enqueued an item. */
type Rival = (pair: Pair) => Promise<boolean>;

const enqueuing =
  (id: string): Rival =>
  ({ other }) =>
    other.enqueue('a', { id, content: 'rival' });

/** Uses the items with this content, under a claim of its own. */
const using =
  (content: string, before: Rival = async () => false): Rival =>
  async (pair) => {
    await before(pair);
    const claimed = await pair.other.claim('a', ADA);
    const items = claimed.inbox.filter((item) => item.content === content);
    await use(pair.other, claimed, items);
    await pair.other.release(claimed.claim);
    return items.length > 0;
  };

const RIVALS: Readonly<Record<string, Rival>> = {
  'the same item is enqueued': enqueuing('i'),
  'another item is enqueued': enqueuing('j'),
  'the same item is enqueued and used': using('rival', enqueuing('i')),
  'another item is enqueued and used': using('rival', enqueuing('j')),
  'the waiting item is used': using('first'),
  'the item itself is used': using('mine'),
  'a worker claims, renews and releases': using('nothing'),
};

test.each(Object.entries(RIVALS))(
  'when %s at any point of an enqueue, each item is returned once or was used',
  async (what, rival) => {
    let moments = 0;
    for (const when of ['before', 'after'] as const) {
      for (let nth = 1; nth < 20; nth++) {
        const pair = await newPair();
        const { table, store } = pair;
        await store.enqueue('a', { id: 'first', content: 'first' });
        let didRival = false;
        const hook = atRequest(nth, when, async () => {
          didRival = await rival(pair);
        });
        database.proxy.fault = hook.fault;
        const isIn = await store.enqueue('a', { id: 'i', content: 'mine' });
        database.proxy.fault = undefined;
        if (!hook.isDone) break;
        moments += 1;
        expect(isIn).toBe(!(didRival && what.startsWith('the same item')));
        const isRivalLeft = didRival && what.endsWith('is enqueued');
        const expected = [
          ...(didRival && what === 'the waiting item is used' ? [] : ['first']),
          ...(isIn && !(didRival && what === 'the item itself is used') ? ['mine'] : []),
          ...(isRivalLeft ? ['rival'] : []),
        ];
        const claimed = await store.claim('a', ADA);
        expect(new Set(contentsOf(claimed.inbox)), `${when} ${nth}`).toEqual(new Set(expected));
        expect(claimed.inbox).toHaveLength(expected.length);
        await use(store, claimed, claimed.inbox);
        await expect(positionsOf(table, 'I')).resolves.toEqual([]);
        await expect(positionsOf(table, 'J')).resolves.toEqual([]);
      }
    }
    expect(moments).toBeGreaterThan(7);
  },
);

test('an item for a session that is created again during the enqueue is in exactly one incarnation', async () => {
  for (let nth = 1; nth < 20; nth++) {
    const { table, store, other } = await newPair();
    const hook = atRequest(nth, 'before', async () => {
      await other.delete('a');
      await other.create(newSession('a'));
    });
    database.proxy.fault = hook.fault;
    await expect(store.enqueue('a', { id: 'i', content: 'mine' })).resolves.toBe(true);
    database.proxy.fault = undefined;
    if (!hook.isDone) break;
    const claimed = await store.claim('a', ADA);
    expect(contentsOf(claimed.inbox)).toEqual(['mine']);
    await use(store, claimed, claimed.inbox);
    await expect(positionsOf(table, 'I')).resolves.toEqual([]);
    await expect(positionsOf(table, 'J')).resolves.toEqual([]);
  }
});

/** The result of one attempt to enqueue. `isIn` is `undefined` when it is unknown. */
interface Attempt {
  readonly id: string;
  isIn: boolean | undefined;
}

test.each(Array.from({ length: 12 * EFFORT }, (_, index) => SEED + index))(
  'each item is used once for any order of requests and any dropped requests (seed %i)',
  async (seed) => {
    const random = randomFrom(seed);
    const below = (count: number): number => Math.floor(random() * count);
    const [table, clock] = [await database.newTable(), testClock()];
    const { blobs: files } = testBlobs();
    const blobs = seed % 3 === 0 ? { store: files, minBytes: 1 } : undefined;
    const stores = await Promise.all(
      Array.from({ length: 5 }, () => database.newStore({ table, clock, blobs, maxAttempts: 1 })),
    );
    const [store, ...writers] = stores;
    if (store === undefined) throw new Error('The store is missing.');
    await store.create(newSession('a'));
    for (const each of stores) await each.exists('a');
    const ofLog = await files.keys();
    const attempts = new Map<string, Attempt>();
    const used: InboxItem[] = [];
    let writing = writers.length;

    // Ten ids, few enough that the session remembers all used ones.
    const writer = (each: SessionStore, index: number) => async (): Promise<void> => {
      for (let turn = 0; turn < 8; turn++) {
        const [id, content] = [`item ${below(10)}`, `${index}.${turn}`];
        const attempt: Attempt = { id, isIn: undefined };
        attempts.set(content, attempt);
        await each.enqueue('a', { id, content }).then(
          (isIn) => void (attempt.isIn = isIn),
          (error: unknown) => {
            if (!hasErrorCode(error, 'STORE_UNAVAILABLE')) throw error;
          },
        );
      }
      writing -= 1;
    };
    const worker = async (): Promise<void> => {
      let { session, claim } = await untilAnswered(() => store.claim('a', ADA));
      for (let saves = 0; ; saves++) {
        const isLast = writing === 0;
        const { inbox, unreadable } = await untilAnswered(() => store.renew(claim, ADA));
        expect(unreadable).toEqual([]);
        const taken = isLast ? inbox : inbox.filter(() => random() < 0.4);
        const options = { base: session, epoch: claim.epoch, operationId: `${saves}`, acknowledge: taken };
        const base = session;
        session = await untilAnswered(() => store.save(base, options));
        used.push(...taken);
        if (isLast) break;
      }
      await untilAnswered(() => store.release(claim));
    };
    const losses = seed % 2 === 0 ? 0 : 0.05;
    await interleaved({ proxy: database.proxy, random, losses }, [worker, ...writers.map(writer)]);

    const contents = contentsOf(used);
    expect(new Set(used.map(({ id }) => id)).size, 'an item was used twice').toBe(used.length);
    for (const [content, { id, isIn = contents.includes(content) }] of attempts) {
      expect(contents.includes(content), `${content} of ${id}`).toBe(isIn);
    }
    expect(contents.map((content) => attempts.get(content)?.id)).toEqual(used.map(({ id }) => id));

    // The use of one more item removes the rows that an interrupted removal left.
    await store.enqueue('a', { id: 'last', content: 'last' });
    const claimed = await store.claim('a', { ...ADA, workerId: 'Ben' });
    await use(store, claimed, claimed.inbox);
    const next = claimed.inbox[0]?.position ?? 0;
    for (const kind of ['I', 'J'] as const) {
      const rows = await positionsOf(table, kind);
      expect(rows.filter((position) => position <= next)).toEqual([]);
      expect((await files.keys()).filter((key) => !ofLog.includes(key)).length).toBeLessThanOrEqual(
        rows.length,
      );
    }
  },
);

/** Retries an attempt whose result is unknown. */
async function untilAnswered<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!hasErrorCode(error, 'STORE_UNAVAILABLE')) throw error;
    }
  }
}
