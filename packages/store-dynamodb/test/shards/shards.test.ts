import type { DynamoDbSessionStore } from '@holdfast/store-dynamodb';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { newSession, testClock, withFact, type TestClock } from '@holdfast/conformance';
import type { SessionQuery, SessionStore } from '@holdfast/core';
import type { SessionClaim } from '@holdfast/core/store';
import { expect, test } from 'vitest';
import { randomFrom } from '../support/random.ts';
import { isFlip, itemAt, itemsOf, type StoredItem } from '../support/stored-items.ts';
import { testDatabase } from '../support/test-database.ts';

const database = testDatabase();
const PRUNE = fileURLToPath(new URL('../children/prune.ts', import.meta.url));
const MINUTE = 60_000;
const SEED = Number(process.env['SEED'] ?? 20_261_122);

interface Change {
  readonly clock: TestClock;
  readonly table: string;
  /** A store with 2 shards, the number of the new table. */
  readonly old: DynamoDbSessionStore;
  /** A store with 5 shards. */
  readonly anew: DynamoDbSessionStore;
}

/** A table of 2 shards, and a store that raises the number to 5 at its first request. */
async function newChange(): Promise<Change> {
  const clock = testClock();
  const table = await database.newTable();
  const old = await database.newStore({ table, clock, shards: 2 });
  await old.exists('a');
  return { clock, table, old, anew: await database.newStore({ table, clock, shards: 5 }) };
}

const metaOf = (table: string): Promise<StoredItem | undefined> =>
  itemAt(database.client(), table, { pk: { S: 'M' }, sk: { S: 'M' } });

const isMoving = async (table: string): Promise<boolean> => (await metaOf(table))?.['moving'] !== undefined;

/** The generation of the header of each session. */
async function generationsOf(table: string, ids: readonly string[]): Promise<(string | undefined)[]> {
  const client = database.client();
  const items = await Promise.all(ids.map((id) => itemsOf(client, table, id)));
  return items.map(([header]) => header?.['shard']?.S?.split('.')[0]);
}

async function listed(store: SessionStore, query: SessionQuery = {}): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.list({ ...query, cursor });
    ids.push(...page.sessions.map(({ sessionId }) => sessionId));
    ({ cursor } = page);
  } while (cursor);
  return ids;
}

async function dueIds(store: DynamoDbSessionStore): Promise<string[]> {
  return (await store.due({ limit: 100 })).sessions.map(({ sessionId }) => sessionId);
}

const namesOf = (count: number): string[] => Array.from({ length: count }, (_, index) => `s${100 + index}`);

test('a new generation is announced, receives the sessions, and the previous one ends', async () => {
  const { clock, table, old, anew } = await newChange();
  const ids = namesOf(12);
  for (const id of ids.slice(0, 10)) await old.create(newSession(id));
  await anew.create(newSession('s110'));
  await expect(metaOf(table)).resolves.toMatchObject({
    generation: { N: '2' },
    shards: { N: '5' },
    before: { N: '2' },
    moving: { N: '1' },
  });

  // Some processes may not know the new generation yet: no process writes or moves a session to it.
  clock.time += 2 * MINUTE - 1;
  await anew.create(newSession('s111'));
  await anew.prune();
  expect(new Set(await generationsOf(table, ids))).toEqual(new Set(['1']));
  await expect(listed(anew)).resolves.toEqual(ids);

  clock.time += 1;
  await anew.save((await anew.load('s100')) ?? newSession('s100'));
  await old.save((await old.load('s101')) ?? newSession('s101'));
  expect(new Set(await generationsOf(table, ids.slice(0, 2)))).toEqual(new Set(['2']));
  await expect(listed(old)).resolves.toEqual(ids);

  await old.prune({ limit: 4 });
  await expect(listed(anew)).resolves.toEqual(ids);
  await anew.prune();
  expect(new Set(await generationsOf(table, ids))).toEqual(new Set(['2']));
  await anew.prune();
  await expect(isMoving(table)).resolves.toBe(true);

  clock.time += 13 * MINUTE;
  await anew.prune();
  await expect(isMoving(table)).resolves.toBe(false);
  const { length } = database.proxy.operations;
  await expect(listed(old)).resolves.toEqual(ids);
  const queries = database.proxy.operations.slice(length).filter((operation) => operation === 'Query');
  expect(queries).toHaveLength(5);

  // From now on a third generation can begin.
  await (await database.newStore({ table, clock, shards: 6 })).exists('a');
  await expect(metaOf(table)).resolves.toMatchObject({ generation: { N: '3' }, before: { N: '5' } });
});

test('a generation that holds a session does not end', async () => {
  const { clock, table, old, anew } = await newChange();
  for (const id of namesOf(3)) await old.create(newSession(id));
  await anew.exists('a');
  clock.time += 60 * MINUTE;
  await anew.prune({ limit: 2 });
  await anew.prune({ limit: 2 });
  await expect(isMoving(table)).resolves.toBe(true);
  await anew.prune();
  await expect(isMoving(table)).resolves.toBe(false);
});

test('items of the index sweep move too, and are swept', async () => {
  const { clock, table, old, anew } = await newChange();
  const base = await old.create(newSession('a'), { expiry: { afterSeconds: 3_600 } });
  await old.enqueue('a', { id: 'i', content: 1 });
  database.proxy.fault = async ({ operation }, forward) =>
    operation === 'BatchWriteItem' ? 'cut' : forward();
  await old.create(newSession('b'));
  await old.delete('b');
  database.proxy.fault = undefined;
  await anew.exists('a');
  clock.time += 3 * MINUTE;
  await expect(anew.prune()).resolves.toBe(0);
  await expect(anew.load('a')).resolves.toEqual(base);
  const generations = (await itemsOf(database.client(), table, 'b')).map(({ shard }) => shard?.S?.[0]);
  expect(generations.filter(Boolean)).toEqual(['2', '2']);
  clock.time += 24 * 60 * MINUTE;
  await expect(anew.prune()).resolves.toBe(1);
  await expect(itemsOf(database.client(), table, 'a')).resolves.toEqual([]);
  await expect(itemsOf(database.client(), table, 'b')).resolves.toEqual([]);
});

test('a list misses no session that moves during the list, and returns none twice', async () => {
  const { clock, table, old, anew } = await newChange();
  const ids = namesOf(40);
  for (const id of ids) {
    await old.create(newSession(id));
    await old.enqueue(id, { id: 'i', content: 1 });
  }
  await anew.exists('a');
  clock.time += 3 * MINUTE;
  expect(new Set(await generationsOf(table, ids))).toEqual(new Set(['1']));
  let isOther = false;
  database.proxy.fault = async (request, forward) => {
    if (request.operation !== 'Query' || isOther) return forward();
    isOther = true;
    await anew.prune({ limit: 1 });
    const reply = await forward();
    await anew.prune({ limit: 1 });
    isOther = false;
    return reply;
  };
  for (const read of [
    listed,
    dueIds,
    (store: DynamoDbSessionStore) => listed(store, { order: 'lastActiveAt' }),
  ]) {
    await expect(read(old)).resolves.toEqual(ids);
  }
  database.proxy.fault = undefined;
  expect(new Set(await generationsOf(table, ids))).toEqual(new Set(['2']));
});

test('when a process is killed while it moves sessions, the next prune moves the remaining ones', async () => {
  const clock = testClock();
  clock.time = Date.now() - 60 * MINUTE;
  const table = await database.newTable();
  const ids = namesOf(25);
  const old = await database.newStore({ table, clock, shards: 2 });
  for (const id of ids) await old.create(newSession(id));
  await (await database.newStore({ table, clock, shards: 5 })).exists('a');
  const { endpoint } = database.proxy;
  const flags = ['--conditions=@holdfast/source', '--no-warnings'];
  const child = spawn(process.execPath, [...flags, PRUNE, endpoint, table]);
  const exited = once(child, 'exit');
  let updates = 0;
  database.proxy.fault = async ({ operation }, forward) => {
    if (operation !== 'UpdateItem' || ++updates < 14) return forward();
    child.kill('SIGKILL');
    return 'cut';
  };
  expect((await exited)[1]).toBe('SIGKILL');
  database.proxy.fault = undefined;
  expect(new Set(await generationsOf(table, ids))).toEqual(new Set(['1', '2']));

  const store = await database.newStore({ table });
  await expect(listed(store)).resolves.toEqual(ids);
  await store.prune();
  expect(new Set(await generationsOf(table, ids))).toEqual(new Set(['2']));
  await store.prune();
  await expect(isMoving(table)).resolves.toBe(false);
  await expect(listed(store)).resolves.toEqual(ids);
});

test('prune finds a session that a process wrote to a generation long after its end', async () => {
  const { clock, table, old, anew } = await newChange();
  const base = await old.create(newSession('a'));
  let isHeldUp = false;
  database.proxy.fault = async (request, forward) => {
    if (!isFlip(request) || isHeldUp) return forward();
    isHeldUp = true;
    await anew.exists('a');
    clock.time += 60 * MINUTE;
    await anew.prune();
    await anew.prune();
    await expect(isMoving(table)).resolves.toBe(false);
    return forward();
  };
  await old.save(withFact(base, 'n', 1), { base });
  database.proxy.fault = undefined;
  expect(isHeldUp).toBe(true);
  await expect(generationsOf(table, ['a'])).resolves.toEqual(['1']);
  await expect(listed(anew)).resolves.toEqual([]);
  await anew.prune();
  await expect(listed(anew)).resolves.toEqual(['a']);
});

/** The expected state of a session. */
interface Model {
  claim?: SessionClaim | undefined;
  isDue: boolean;
}

test.each(Array.from({ length: 3 }, (_, index) => SEED + index))(
  'while half of the processes use the old setting, each session is returned once (seed %i)',
  async (seed) => {
    const random = randomFrom(seed);
    const below = (count: number): number => Math.floor(random() * count);
    const { clock, table, old, anew } = await newChange();
    const stores = [old, await database.newStore({ table, clock, shards: 2 }), anew];
    stores.push(await database.newStore({ table, clock, shards: 5 }));
    const one = (): DynamoDbSessionStore => stores[below(stores.length)] ?? old;
    const model = new Map<string, Model>();
    for (const id of namesOf(20)) {
      await old.create(newSession(id));
      model.set(id, { isDue: false });
    }
    let ended = 0;
    for (let turn = 0; ended < 10; turn++) {
      expect(turn).toBeLessThan(1_000);
      clock.time += below(20_000);
      await deed(below(7));
      if (turn % 5 === 0) await verify();
      if (turn > 0 && !(await isMoving(table))) ended += 1;
    }

    async function deed(kind: number): Promise<void> {
      const ids = [...model.keys()];
      const id = ids[below(ids.length)] ?? '';
      const session = model.get(id) ?? { isDue: false };
      const store = one();
      if (kind === 0) {
        const added = `n${String(1_000 + model.size)}.${below(1e9)}`;
        await store.create(newSession(added, { at: clock.time }));
        model.set(added, { isDue: false });
      } else if (kind === 1 && model.size > 15) {
        await store.delete(id);
        model.delete(id);
      } else if (kind === 2) {
        await store.enqueue(id, { id: String(below(1e9)), content: 1 });
        session.isDue = true;
      } else if (kind === 3 && !session.claim) {
        session.claim = (await store.claim(id, { workerId: 'Ada', leaseSeconds: 86_400 })).claim;
      } else if (kind === 4 && session.claim) {
        await store.release(session.claim);
        session.claim = undefined;
      } else if (kind === 5) {
        const base = await store.load(id);
        const epoch = session.claim?.epoch;
        if (base) await store.save(withFact(base, 'n', below(9)), { base, epoch });
      } else await store.prune({ limit: 1 + below(4) });
    }

    async function verify(): Promise<void> {
      const store = one();
      const ids = [...model.keys()].toSorted();
      expect((await listed(store, { limit: 1 + below(30) })).toSorted()).toEqual(ids);
      expect((await listed(store, { order: 'lastActiveAt' })).toSorted()).toEqual(ids);
      const due = ids.filter((id) => model.get(id)?.isDue && !model.get(id)?.claim);
      expect((await dueIds(store)).toSorted()).toEqual(due);
    }
  },
);
