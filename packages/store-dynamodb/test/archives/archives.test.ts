import type { DynamoDbSessionStore } from '@holdfast/store-dynamodb';
import { randomBytes } from 'node:crypto';
import { DeleteItemCommand } from '@aws-sdk/client-dynamodb';
import { newSession, testClock, withFact } from '@holdfast/conformance';
import { AgentState, hasErrorCode, type AgentSession, type SessionStore } from '@holdfast/core';
import { expect, test } from 'vitest';
import { Archives } from '../../src/archives/archives.ts';
import { MAX_VALUE_BYTES } from '../../src/log/plan-entries.ts';
import { Table } from '../../src/table/table.ts';
import { interleaved } from '../support/interleaved.ts';
import { randomFrom } from '../support/random.ts';
import type { Fault } from '../support/request-proxy.ts';
import { isFlip, itemsOf, keysOf, putKeysIn, type StoredItem } from '../support/stored-items.ts';
import { testDatabase } from '../support/test-database.ts';

const database = testDatabase();
const DAY = 86_400_000;
const SEED = Number(process.env['SEED'] ?? 20_261_122);
const EFFORT = Number(process.env['EFFORT'] ?? 1);
const noise = (length: number): string => randomBytes(length).toString('base64');

interface World {
  readonly clock: { time: number };
  readonly table: string;
  readonly store: DynamoDbSessionStore;
  readonly other: DynamoDbSessionStore;
  /** The sessions as the stores have saved them, by version. */
  readonly saved: Map<number, AgentSession>;
}

/** Two stores on a table with a session. Their clients do not retry when a reply does not arrive. */
async function newWorld(keptRevisions = 1_000): Promise<World> {
  const clock = testClock();
  const table = await database.newTable();
  const newStore = (): Promise<DynamoDbSessionStore> =>
    database.newStore({ table, clock, keptRevisions, maxAttempts: 1 });
  const [store, other] = [await newStore(), await newStore()];
  const created = await store.create(newSession('a'));
  await other.exists('a');
  return { clock, table, store, other, saved: new Map([[1, created]]) };
}

const loaded = async (store: SessionStore): Promise<AgentSession> => {
  const session = await store.load('a');
  if (session === undefined) throw new Error('The session is missing.');
  return session;
};

/** Saves the session with another fact, which is also the checkpoint, and records the saved session. */
async function saveFact({ saved }: World, store: SessionStore, fact: string): Promise<void> {
  const base = await loaded(store);
  const next = await store.save(withFact(base, 'fact', fact), { base, checkpoint: fact });
  saved.set(next.version, next);
}

/** The process dies at its nth request from now on: before or after the server executes it. */
function deathAt(nth: number, isExecuted: boolean): Fault {
  let count = 0;
  return async (_, forward) => {
    count += 1;
    if (count < nth || (count === nth && isExecuted)) {
      const reply = await forward();
      if (count < nth) return reply;
    }
    return 'cut';
  };
}

/** The session with another message: the revision of a save undoes another part than that of a fact. */
function withMessage(session: AgentSession): AgentSession {
  return session.withState(session.state.withUserMessage('Hello.', {}, session.updatedAt));
}

/** A writer that stages a save with a fact, and dies before it writes the header. */
async function dieBeforeFlip(
  store: SessionStore,
  change: (base: AgentSession) => AgentSession,
): Promise<void> {
  const base = await loaded(store);
  database.proxy.fault = async (request, forward) => (isFlip(request) ? 'cut' : forward());
  await expect(store.save(change(base), { base, checkpoint: 'dead' })).rejects.toMatchObject({
    isAmbiguous: true,
  });
  database.proxy.fault = undefined;
}

/** Checks that each saved session can be loaded again, one at a time and in pages of each size. */
async function expectAllKept({ saved, other }: World): Promise<void> {
  const newest = [...saved.values()].toSorted((left, right) => right.version - left.version);
  const expected = newest.map(({ version, state }) => [version, state.metadata.get<string>('fact')]);
  for (const limit of [1, 2, 100]) {
    const found: (readonly [version: number, checkpoint: string | undefined])[] = [];
    for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
      const page = await other.revisions('a', { limit, cursor });
      found.push(...page.revisions.map(({ version, checkpoint }) => [version, checkpoint] as const));
      ({ cursor } = page);
    }
    expect(found).toEqual(expected);
  }
  for (const [version, session] of saved)
    await expect(other.loadRevision('a', version)).resolves.toEqual(session);
}

const rowsOf = ({ table }: World): Promise<string[]> => keysOf(database.client(), table, 'a', 'R');
const positionsOf = async (world: World): Promise<number[]> => {
  const rows = await rowsOf(world);
  return rows.map((sk) => Number(/#(\d{16})#/u.exec(sk)?.[1]));
};

const DEATHS = [1, 2, 3].flatMap((nth) => [[nth, false] as const, [nth, true] as const]);

test.each(DEATHS)(
  'the process dies at request %i of a save (executed: %s): each accepted revision is kept, and no other',
  async (nth, isExecuted) => {
    const world = await newWorld();
    const { table, store, other, saved } = world;
    await saveFact(world, store, 'two');
    const base = await loaded(store);
    database.proxy.fault = deathAt(nth, isExecuted);
    const lost = { base, checkpoint: 'lost' };
    const saving = await store.save(withMessage(withFact(base, 'fact', 'lost')), lost).catch(() => undefined);
    database.proxy.fault = undefined;
    const present = await loaded(other);
    expect(present.version).toBe(nth > 2 || (nth === 2 && isExecuted) ? 3 : 2);
    expect(saving ?? present).toEqual(present);
    saved.set(present.version, present);
    for (const fact of ['next', 'last']) {
      await saveFact(world, other, fact);
      await expectAllKept(world);
    }
    await other.delete('a');
    await expect(itemsOf(database.client(), table, 'a')).resolves.toEqual([]);
  },
);

test('of the rows of several dead writers at each position, none is read', async () => {
  const world = await newWorld();
  const { store, other } = world;
  for (let version = 2; version <= 6; version++) {
    for (let dead = 0; dead < 3; dead++) await dieBeforeFlip(store, withMessage);
    await saveFact(world, other, `${version}`);
    await expectAllKept(world);
  }
  await dieBeforeFlip(store, withMessage);
  await expectAllKept(world);
  await expect(positionsOf(world)).resolves.toHaveLength(1 + 5 * 4 + 1);
});

/** The session with an unfinished execution, the next one after that of the session. */
function nextExecution(session: AgentSession): AgentSession {
  const { agentId } = session.state;
  const at = session.updatedAt;
  const state = AgentState.empty({ agentId, at }).withUserMessage('Go on.', {}, at);
  return session.withState(state.withExecutionStatus('inProgress', at));
}

test('a dead writer that put two entries does not spoil the positions of later saves', async () => {
  const { store, other } = await newWorld(0);
  const first = await loaded(store);
  await store.save(nextExecution(first), { base: first });
  await dieBeforeFlip(store, (base) => nextExecution(nextExecution(base)));
  const ids: (string | undefined)[] = [];
  for (let count = 0; count < 4; count++) {
    const base = await loaded(other);
    const saved = await other.save(nextExecution(base), { base });
    ids.unshift(base.state.executionId);
    for (const limit of [1, 2, 3, 100]) {
      const { executions } = await other.executions('a', { limit });
      expect(executions.map(({ executionId }) => executionId)).toEqual(
        [saved.state.executionId, ...ids].slice(0, limit),
      );
    }
  }
});

const ROUNDS = 3 * EFFORT;

test.each(Array.from({ length: ROUNDS }, (_, round) => SEED + round))(
  'writers that save at the same time and lose requests keep each accepted revision (seed %i)',
  async (seed) => {
    const world = await newWorld();
    const { store, other, saved } = world;
    const random = randomFrom(seed);
    const third = await database.newStore({ table: world.table, keptRevisions: 1_000, maxAttempts: 1 });
    await third.exists('a');
    const writer = (each: SessionStore, name: string) => async (): Promise<void> => {
      for (let turn = 0; turn < 8; turn++) {
        await saveFact(world, each, `${name}.${turn}`).catch((error: unknown) => {
          if (!hasErrorCode(error, 'STORE_UNAVAILABLE') && !hasErrorCode(error, 'SESSION_CONFLICT'))
            throw error;
        });
      }
    };
    await interleaved({ proxy: database.proxy, random, losses: 0.1 }, [
      writer(store, 'Ada'),
      writer(other, 'Bo'),
      writer(third, 'Cy'),
    ]);
    const last = await loaded(store);
    // A save whose reply was lost is known by what a store loads now.
    for (let version = 1; version <= last.version; version++) {
      if (saved.has(version)) continue;
      const revision = await store.loadRevision('a', version);
      if (revision === undefined) throw new Error(`Version ${version} was lost.`);
      expect(revision.version).toBe(version);
      saved.set(version, revision);
    }
    expect(last.version).toBeGreaterThan(3);
    await expectAllKept(world);
  },
);

test('a refused writer deletes its rows', async () => {
  const world = await newWorld();
  const { store, other } = world;
  const base = await loaded(store);
  let isDone = false;
  database.proxy.fault = async (request, forward) => {
    if (isFlip(request) && !isDone) {
      isDone = true;
      await saveFact(world, other, 'first');
    }
    return forward();
  };
  const refused = store.save(withFact(base, 'fact', 'second'), { base });
  await expect(refused).rejects.toMatchObject({ kind: 'stale' });
  database.proxy.fault = undefined;
  await expect(positionsOf(world)).resolves.toEqual([1, 2]);
  await expectAllKept(world);
});

test('a save stages its rows once, although the claim is renewed several times', async () => {
  const world = await newWorld();
  const { store, other, saved } = world;
  const { session, claim } = await store.claim('a', { workerId: 'Ada', leaseSeconds: 60 });
  let renewals = 0;
  let staged = 0;
  let isRenewing = false;
  database.proxy.fault = async (request, forward) => {
    if (isRenewing) return forward();
    staged += putKeysIn(request).filter((sk) => sk.startsWith('R#')).length;
    isRenewing = isFlip(request) && renewals++ < 3;
    if (isRenewing) await other.renew(claim, { leaseSeconds: 60 });
    isRenewing = false;
    return forward();
  };
  const options = { base: session, epoch: claim.epoch, checkpoint: '1' };
  const next = await store.save(withFact(session, 'fact', '1'), options);
  database.proxy.fault = undefined;
  saved.set(2, next);
  expect([renewals, staged]).toEqual([4, 1]);
  await expect(positionsOf(world)).resolves.toEqual([1, 2]);
  const { revisions } = await other.revisions('a');
  expect(revisions[0]).toMatchObject({ version: 2, workerId: 'Ada' });
  await expectAllKept(world);
});

/** The process dies when it begins to delete removed rows. */
const deathInRemoval: Fault = async ({ operation, body }, forward) => {
  const { ':from': from } = Object(body['ExpressionAttributeValues']) as StoredItem;
  return operation === 'Query' && from?.S?.startsWith('R#') ? 'cut' : forward();
};

test.each([
  ['are deleted 25 at a time', 0, [28, 5, 29, 5]],
  ['of a process that died in their deletion are deleted later', 29, [28, 29, 53, 5]],
])('removed revisions %s', async (_, deadAt, expected) => {
  const world = await newWorld(5);
  const { store, other, saved } = world;
  const counts: number[] = [];
  for (let version = 2; version <= 54; version++) {
    database.proxy.fault = version === deadAt ? deathInRemoval : undefined;
    await saveFact(world, version % 2 === 0 ? store : other, `${version}`);
    saved.delete(version - 5);
    if ([28, 29, 53, 54].includes(version)) counts.push((await rowsOf(world)).length);
  }
  expect(counts).toEqual(expected);
  await expectAllKept(world);
});

test('a store that keeps no revisions deletes those of the others at once', async () => {
  const world = await newWorld();
  for (let version = 2; version <= 6; version++) await saveFact(world, world.store, `${version}`);
  const plain = await database.newStore({ table: world.table });
  await saveFact(world, plain, 'plain');
  await expect(positionsOf(world)).resolves.toEqual([]);
  await expect(plain.revisions('a')).resolves.toMatchObject({ revisions: [{ version: 7 }] });
  world.saved.clear();
  for (let version = 8; version <= 9; version++) await saveFact(world, world.store, `${version}`);
  await expectAllKept(world);
});

test('rows that stay of a deletion belong to no later session, and prune deletes them', async () => {
  const world = await newWorld();
  const { clock, table, store, other, saved } = world;
  const client = database.client();
  for (let version = 2; version <= 4; version++) await saveFact(world, store, `${version}`);
  const { incarnation } = (await loaded(store)).revision;
  database.proxy.fault = async ({ operation }, forward) => {
    const reply = await forward();
    if (operation === 'DeleteItem') database.proxy.fault = async () => 'cut';
    return reply;
  };
  await expect(store.delete('a')).resolves.toBe(true);
  database.proxy.fault = undefined;
  await expect(positionsOf(world)).resolves.toEqual([1, 2, 3, 4]);

  const archives = new Archives({
    table: new Table(client, table, testClock()),
    readHeader: async () => undefined,
  });
  const range = { from: 0, to: 10, limit: 10 };
  await expect(archives.read('a', incarnation, 'revisions', range)).resolves.toEqual([]);

  saved.clear();
  saved.set(1, await other.create(newSession('a')));
  await saveFact(world, other, 'anew');
  await expectAllKept(world);
  clock.time += DAY;
  await other.prune();
  await expect(positionsOf(world)).resolves.toEqual([1, 2]);
  await expectAllKept(world);
});

test('prune deletes the rows of a creation that died, after a day', async () => {
  const world = await newWorld();
  const { clock, table, store, other } = world;
  await store.delete('a');
  database.proxy.fault = async (request, forward) => (isFlip(request) ? 'cut' : forward());
  await expect(store.create(newSession('a'))).rejects.toMatchObject({ isAmbiguous: true });
  database.proxy.fault = undefined;
  await expect(positionsOf(world)).resolves.toEqual([1]);
  clock.time += DAY;
  await other.prune();
  await expect(itemsOf(database.client(), table, 'a')).resolves.toEqual([]);
});

test('an expired session that is created again has none of the rows before', async () => {
  const world = await newWorld();
  const { clock, store, other, saved } = world;
  const base = await loaded(store);
  await store.save(withFact(base, 'fact', 1), { base, expiry: { afterSeconds: 60 } });
  clock.time += 60_000;
  saved.clear();
  saved.set(1, await other.create(newSession('a')));
  await expect(positionsOf(world)).resolves.toEqual([1]);
  await saveFact(world, other, '2');
  await expectAllKept(world);
});

test('an entry of several rows is read, and a missing row is an error', async () => {
  const world = await newWorld();
  const { table, store, other } = world;
  const base = await loaded(store);
  world.saved.set(2, await store.save(withFact(base, 'long', noise(600_000)), { base }));
  await saveFact(world, store, 'short'); // its entry has the metadata before it
  await expectAllKept(world);
  const rows = await rowsOf(world);
  expect(rows.map((sk) => sk.slice(-6))).toEqual(['1#0000', '1#0000', '2#0000', '2#0001']);
  const Key = { pk: { S: 'S#a' }, sk: { S: rows[2] ?? '' } };
  await database.client().send(new DeleteItemCommand({ TableName: table, Key }));
  await expect(other.loadRevision('a', 2)).rejects.toMatchObject({
    code: 'STATE_FORMAT',
    path: 'the entry 3 of the archive "revisions" of session "a"',
  });
  await expect(other.load('a')).resolves.toMatchObject({ version: 3 });
});

test('an entry of more than 64 MiB is refused before anything is written', async () => {
  const table = new Table(database.client(), 'none', testClock());
  const archives = new Archives({ table, readHeader: async () => undefined });
  const key = { pk: 'S#a', incarnation: 'x', sessionId: 'a' };
  const put = [{ position: 1, json: JSON.stringify('x'.repeat(MAX_VALUE_BYTES)) }];
  const staging = archives.stage(key, [{ archive: 'revisions', put }]);
  await expect(staging).rejects.toMatchObject({ code: 'SESSION_TOO_LARGE' });
});
