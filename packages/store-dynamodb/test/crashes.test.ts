import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { DeleteItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { newSession, testClock, withFact } from '@holdfast/conformance';
import { expect, test } from 'vitest';
import { headerFromItem } from '../src/header/header-item.ts';
import { partitionOf } from '../src/table/keys.ts';
import { fromPayload, toPayload } from '../src/table/payload.ts';
import type { Fault } from './support/request-proxy.ts';
import { isFlip, itemsIn, itemsOf, keysOf, type StoredItem } from './support/stored-items.ts';
import { testDatabase } from './support/test-database.ts';

const database = testDatabase();
const SAVE = fileURLToPath(new URL('children/save.ts', import.meta.url));
const DAY = 86_400_000;

/** Calls `deed` before the next flip. */
function beforeFlip(deed: () => Promise<unknown>): Fault {
  let isDone = false;
  return async (request, forward) => {
    if (isFlip(request) && !isDone) {
      isDone = true;
      await deed();
    }
    return forward();
  };
}

test('entries staged by a killed process do not belong to the session', async () => {
  const table = await database.newTable();
  const store = await database.newStore({ table });
  const base = await store.create(newSession('victim'));
  const { endpoint } = database.proxy;
  const child = spawn(process.execPath, [
    '--conditions=@holdfast/source',
    '--no-warnings',
    SAVE,
    endpoint,
    table,
  ]);
  const exited = once(child, 'exit');
  database.proxy.fault = async (request, forward) => {
    if (!isFlip(request)) return forward();
    child.kill('SIGKILL');
    return 'cut';
  };
  const [, signal] = (await exited) as [number | null, string | null];
  database.proxy.fault = undefined;
  expect(signal).toBe('SIGKILL');
  const client = database.client();
  await expect(keysOf(client, table, 'victim', 'E')).resolves.toHaveLength(2);
  await expect(store.load('victim')).resolves.toEqual(base);
  const saved = await store.save(withFact(base, 'n', 1), { base });
  await expect(store.load('victim')).resolves.toEqual(saved);
  await store.delete('victim');
  await expect(itemsOf(client, table, 'victim')).resolves.toEqual([]);
});

test('a refused writer deletes its staged entries', async () => {
  const table = await database.newTable();
  const [store, other] = [await database.newStore({ table }), await database.newStore({ table })];
  const base = await store.create(newSession('a'));
  await expect(other.create(newSession('a'))).rejects.toMatchObject({ kind: 'exists' });
  const saved = await store.save(withFact(base, 'n', 1), { base });
  const known = (await other.load('a')) ?? saved;
  database.proxy.fault = beforeFlip(() => other.save(withFact(known, 'n', 2), { base: known }));
  const refused = store.save(withFact(saved, 'n', 3), { base: saved });
  await expect(refused).rejects.toMatchObject({ kind: 'stale' });
  database.proxy.fault = undefined;
  await expect(keysOf(database.client(), table, 'a', 'E')).resolves.toHaveLength(3);
});

test('an inbox item that no header names is not part of the inbox', async () => {
  const table = await database.newTable();
  const store = await database.newStore({ table, maxAttempts: 1 });
  await store.create(newSession('a'));
  database.proxy.fault = async (request, forward) => (isFlip(request) ? 'cut' : forward());
  await expect(store.enqueue('a', { id: 'i', content: 'lost' })).rejects.toMatchObject({ isAmbiguous: true });
  database.proxy.fault = undefined;
  await expect(keysOf(database.client(), table, 'a', 'I')).resolves.toHaveLength(1);
  await expect(store.enqueue('a', { id: 'i', content: 'kept' })).resolves.toBe(true);
  const { inbox } = await store.claim('a', { workerId: 'Ada', leaseSeconds: 60 });
  expect(inbox).toMatchObject([{ id: 'i', content: 'kept' }]);
});

test('prune deletes the entries of a creation that died, after a day', async () => {
  const clock = testClock();
  const table = await database.newTable();
  const store = await database.newStore({ table, clock, maxAttempts: 1 });
  const client = database.client();
  database.proxy.fault = async (request, forward) => (isFlip(request) ? 'cut' : forward());
  await expect(store.create(newSession('a'))).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  database.proxy.fault = undefined;
  clock.time += DAY - 1;
  await expect(store.prune()).resolves.toBe(0);
  await expect(itemsOf(client, table, 'a')).resolves.toHaveLength(1);
  clock.time += 1;
  await expect(store.prune()).resolves.toBe(0);
  await expect(itemsOf(client, table, 'a')).resolves.toEqual([]);
});

test('prune does not delete the entries of a live session', async () => {
  const clock = testClock();
  const table = await database.newTable();
  const store = await database.newStore({ table, clock });
  const created = await store.create(newSession('a'));
  clock.time += DAY;
  const before = database.proxy.operations.length;
  await expect(store.prune()).resolves.toBe(0);
  await expect(store.load('a')).resolves.toEqual(created);
  // The store checks at once.
  expect(database.proxy.operations.slice(before)).toContain('UpdateItem');
  const after = database.proxy.operations.length;
  await store.prune();
  expect(database.proxy.operations.slice(after)).not.toContain('GetItem');
});

test('prune deletes the items of a session whose deletion died, after a day', async () => {
  const clock = testClock();
  const table = await database.newTable();
  const store = await database.newStore({ table, clock, maxAttempts: 1 });
  const client = database.client();
  await store.create(newSession('a'));
  await store.enqueue('a', { id: 'i', content: 1 });
  database.proxy.fault = async ({ operation }, forward) =>
    operation === 'BatchWriteItem' ? 'cut' : forward();
  await expect(store.delete('a')).resolves.toBe(true);
  database.proxy.fault = undefined;
  await expect(store.exists('a')).resolves.toBe(false);
  await expect(itemsOf(client, table, 'a')).resolves.toHaveLength(4);
  const anew = await store.create(newSession('a'));
  clock.time += DAY;
  await store.prune();
  await expect(keysOf(client, table, 'a', 'G')).resolves.toEqual([]);
  await expect(keysOf(client, table, 'a', 'I')).resolves.toEqual([]);
  await expect(keysOf(client, table, 'a', 'J')).resolves.toEqual([]);
  await expect(keysOf(client, table, 'a', 'E')).resolves.toHaveLength(1);
  await expect(store.load('a')).resolves.toEqual(anew);
});

test('a session with a missing part is unreadable, and its items stay', async () => {
  const table = await database.newTable();
  const store = await database.newStore({ table });
  const base = await store.create(newSession('a'));
  await store.save(withFact(base, 'n', 1), { base });
  const client = database.client();
  const items = await itemsOf(client, table, 'a');
  const first = items.find(({ sk, prev }) => sk?.S?.startsWith('E#') && !prev);
  if (first?.['pk'] === undefined || first['sk'] === undefined)
    throw new Error('The log has no first entry.');
  await client.send(new DeleteItemCommand({ TableName: table, Key: { pk: first['pk'], sk: first['sk'] } }));
  await expect(store.load('a')).rejects.toMatchObject({ code: 'STATE_FORMAT' });
  await expect(store.claim('a', { workerId: 'Ada', leaseSeconds: 60 })).rejects.toMatchObject({
    code: 'STATE_FORMAT',
  });
  await expect(itemsOf(client, table, 'a')).resolves.toHaveLength(2);
  await expect(store.delete('a')).resolves.toBe(true);
});

/** Changes the lines of a header's payload: the facts about its log, the record, the head. */
function rewritten(change: (lines: string[]) => string[]): (header: StoredItem) => Promise<StoredItem> {
  return async (header) => {
    const context = `${header['pk']?.S}${header['rev']?.S}`;
    const text = await fromPayload(header['payload']?.B, 'it', context);
    return { ...header, payload: { B: await toPayload(change(text.split('\n')).join('\n'), context) } };
  };
}

const withEntry = (entry: string): ((header: StoredItem) => Promise<StoredItem>) =>
  rewritten(([facts = '', ...others]) => [JSON.stringify({ ...JSON.parse(facts), entry }), ...others]);

test.each<[what: string, change: (header: StoredItem) => StoredItem | Promise<StoredItem>]>([
  ['another revision', (header) => ({ ...header, rev: { S: '9.t.x' } })],
  ['no revision', (header) => Object.fromEntries(Object.entries(header).filter(([name]) => name !== 'rev'))],
  ['no payload', (header) => ({ ...header, payload: { B: Buffer.from('\u0000{"n":1}') } })],
  ['another record', rewritten(([facts = '']) => [facts, '{"n":1}'])],
  ['no facts', rewritten(([, ...others]) => ['{}', ...others])],
  ['no head', rewritten(([facts = '', record = '']) => [facts, record])],
  ['too many parts', withEntry('000000#000000#x#99999999')],
  ['infinitely many parts', withEntry('000000#000000#x#Infinity')],
  ['an invalid instant of its sweep', (header) => ({ ...header, sweep: { S: 'soon' } })],
])('the error of a header with %s names the session', async (_, change) => {
  const table = await database.newTable();
  const store = await database.newStore({ table });
  await store.create(newSession('a'));
  const client = database.client();
  const header = (await itemsOf(client, table, 'a')).find(({ sk }) => sk?.S === 'A') ?? {};
  await client.send(new PutItemCommand({ TableName: table, Item: await change(header) }));
  const refusal = { code: 'STATE_FORMAT', message: expect.stringContaining('session "a"') };
  await expect(store.load('a')).rejects.toMatchObject(refusal);
  await expect(store.claim('a', { workerId: 'Ada', leaseSeconds: 60 })).rejects.toMatchObject(refusal);
});

test.each(['a', 'x'.repeat(600)])(
  'a list names the session whose header has no record, and a delete removes it',
  async (id) => {
    const table = await database.newTable();
    const store = await database.newStore({ table });
    await store.create(newSession(id));
    await store.enqueue(id, { id: 'i', content: 1 });
    const client = database.client();
    const [header] = await itemsIn(client, table, partitionOf(id));
    await client.send(
      new PutItemCommand({ TableName: table, Item: { ...header, payload: { B: Buffer.from('?') } } }),
    );
    const error = { code: 'STATE_FORMAT', path: `the header of session "${id}"` };
    for (const page of [await store.list(), await store.due()])
      expect(page).toMatchObject({ sessions: [], unreadable: [{ sessionId: id, error }] });
    await expect(store.delete(id)).resolves.toBe(true);
    await expect(itemsIn(client, table, partitionOf(id))).resolves.toEqual([]);
  },
);

test('an unreadable inbox item is reported with its position, and the others are returned', async () => {
  const table = await database.newTable();
  const store = await database.newStore({ table });
  await store.create(newSession('a'));
  for (const id of ['i', 'j']) await store.enqueue('a', { id, content: id });
  const client = database.client();
  const item = (await itemsOf(client, table, 'a')).find(({ sk }) => sk?.S?.startsWith('I#'));
  await client.send(
    new PutItemCommand({ TableName: table, Item: { ...item, payload: { B: Buffer.from('?') } } }),
  );
  const { inbox, unreadable } = await store.claim('a', { workerId: 'Ada', leaseSeconds: 60 });
  expect(inbox).toMatchObject([{ id: 'j', position: 1 }]);
  expect(unreadable).toMatchObject([{ position: 0, error: { code: 'STATE_FORMAT', path: 'inbox item 0' } }]);
});

test('reading a log whose entries form a loop ends with an error', async () => {
  const table = await database.newTable();
  const store = await database.newStore({ table });
  const base = await store.create(newSession('a'));
  await store.save(withFact(base, 'n', 1), { base });
  const client = database.client();
  const items = await itemsOf(client, table, 'a');
  const last = items.find(({ prev }) => prev);
  if (last === undefined) throw new Error('The log has no second entry.');
  const { lastEntry } = await headerFromItem(items.find(({ sk }) => sk?.S === 'A') ?? {});
  await client.send(new PutItemCommand({ TableName: table, Item: { ...last, prev: { S: lastEntry } } }));
  await expect(store.load('a')).rejects.toMatchObject({ code: 'STATE_FORMAT' });
});
