import { randomBytes } from 'node:crypto';
import { newSession, testClock, withFact } from '@holdfast/conformance';
import type { AgentSession } from '@holdfast/core';
import type { SessionClaim } from '@holdfast/core/store';
import type { DynamoDbSessionStore } from '@holdfast/store-dynamodb';
import { expect, test } from 'vitest';
import type { FileBlobs } from '../support/file-blobs.ts';
import { isFlip, itemsOf, keysOf, putKeysIn } from '../support/stored-items.ts';
import { testBlobs } from '../support/test-blobs.ts';
import { testDatabase } from '../support/test-database.ts';

const database = testDatabase();
const DAY = 86_400_000;
const noise = (length: number): string => randomBytes(length).toString('base64');

interface Contest {
  readonly clock: { time: number };
  readonly table: string;
  readonly store: DynamoDbSessionStore;
  readonly other: DynamoDbSessionStore;
  readonly blobs: FileBlobs;
  /** A session of two saves. The second save is larger than the first, and has a large value. */
  readonly base: AgentSession;
  readonly claim: SessionClaim;
}

/**
 * A session that `store` has claimed. Its next save writes a new segment if it has no base, or if `compactAfterSaves`
 * is 1.
 */
async function contest(compactAfterSaves: number, minBytes: number): Promise<Contest> {
  const clock = testClock();
  const table = await database.newTable();
  const { blobs } = testBlobs();
  const options = { clock, table, blobs: { store: blobs, minBytes } };
  const store = await database.newStore({ ...options, compactAfterSaves });
  const other = await database.newStore(options);
  await store.create(newSession('a'));
  const { session, claim } = await store.claim('a', { workerId: 'Ada', leaseSeconds: 60 });
  const grown = withFact(session, 'old', noise(4_000));
  const base = await store.save(grown, { base: session, epoch: claim.epoch });
  return { clock, table, store, other, blobs, base, claim };
}

/** Calls the next of `deeds` before each flip. Counts the log entries that are put until then. */
function beforeFlips(deeds: readonly (() => Promise<unknown>)[]): { readonly staged: () => number } {
  const left = [...deeds];
  let staged = 0;
  let isOther = false;
  database.proxy.fault = async (request, forward) => {
    if (isOther) return forward();
    staged += putKeysIn(request).filter((sk) => sk.startsWith('E#')).length;
    const deed = isFlip(request) ? left.shift() : undefined;
    isOther = deed !== undefined;
    await deed?.();
    isOther = false;
    return forward();
  };
  return { staged: () => staged };
}

const WAYS = [
  ['adds to the log', true, 200],
  ['writes the whole session', false, 200],
  ['compacts the log', true, 1],
] as const;
const CASES = WAYS.flatMap((way) => [
  [...way, 'in the table', 1_000_000] as const,
  [...way, 'as blobs', 2_000] as const,
]);

test.each(CASES)(
  'a save that %s (based: %s, compacting after %s), with values %s, is staged once, although the claim is renewed several times',
  async (_, isBased, compactAfterSaves, __, minBytes) => {
    const { clock, table, store, other, blobs, base, claim } = await contest(compactAfterSaves, minBytes);
    const client = database.client();
    const puts = blobs.operations.length;
    const renew = () => other.renew(claim, { leaseSeconds: 60 });
    const { staged } = beforeFlips([renew, renew, renew]);
    const next = withFact(base, 'new', noise(4_000));
    const saved = await store.save(next, { ...(isBased && { base }), epoch: claim.epoch });
    database.proxy.fault = undefined;
    expect([saved.version, staged()]).toEqual([3, 1]);
    const segments = (await keysOf(client, table, 'a', 'E')).map((key) => key.split('#')[2]);
    expect(segments).toEqual(isBased && compactAfterSaves > 1 ? ['000000', '000000', '000000'] : ['000001']);
    await expect(other.load('a')).resolves.toEqual(saved);

    // Metadata is one value, so the new log does not name the blob of the previous value.
    const isBlob = minBytes < 4_000;
    const isAnew = segments.length === 1;
    const operations = isBlob ? ['put', ...(isAnew ? ['delete'] : []), 'get'] : [];
    expect(blobs.operations.slice(puts, puts + operations.length)).toEqual(operations);
    await expect(blobs.keys()).resolves.toHaveLength(isBlob ? (isAnew ? 1 : 2) : 0);
    await expect(keysOf(client, table, 'a', 'B')).resolves.toHaveLength(isBlob ? (isAnew ? 1 : 2) : 0);
    clock.time += DAY;
    await other.prune();
    await expect(other.load('a')).resolves.toEqual(saved);
  },
);

test.each([
  ['compacts the log', true],
  ['writes the whole session', false],
])(
  'a save that %s does not delete the blob of an item that was enqueued during the save',
  async (_, isBased) => {
    const { store, other, base, claim } = await contest(1, 2_000);
    const content = noise(4_000);
    let isPut = false;
    let enqueuing: Promise<boolean> | undefined;
    const [staged, put] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    // The item has its note when the save reads the notes, and its header is written before the header of the save.
    database.proxy.fault = async (request, forward) => {
      const [sk = ''] = putKeysIn(request);
      if (isFlip(request) && !isPut) {
        isPut = true;
        put.resolve();
        await staged.promise;
        return forward();
      }
      if (isFlip(request) && enqueuing && sk === 'A') {
        staged.resolve();
        await enqueuing;
      }
      return forward();
    };
    enqueuing = other.enqueue('a', { id: 'large', content });
    await put.promise;
    const next = base.withState(base.state.withUserMessage('Hello.'));
    await store.save(next, { ...(isBased && { base }), epoch: claim.epoch });
    database.proxy.fault = undefined;
    await expect(enqueuing).resolves.toBe(true);
    await expect(other.renew(claim, { leaseSeconds: 60 })).resolves.toMatchObject({ inbox: [{ content }] });
  },
);

test.each([
  ['another writer has saved', false],
  ['another worker has claimed the session', true],
])('staged items of an earlier attempt are deleted when %s', async (_, isClaimed) => {
  const { clock, table, store, other, blobs, base, claim } = await contest(200, 2_000);
  const client = database.client();
  const { epoch } = claim;
  const ends = async (): Promise<unknown> => {
    if (!isClaimed) {
      const known = (await other.load('a')) ?? base;
      return other.save(known.withState(known.state.withUserMessage('Hello.')), { base: known, epoch });
    }
    clock.time += 60_000;
    return other.claim('a', { workerId: 'Bea', leaseSeconds: 60 });
  };
  beforeFlips([() => other.renew(claim, { leaseSeconds: 60 }), ends]);
  const saving = store.save(withFact(base, 'new', noise(4_000)), { base, epoch });
  await expect(saving).rejects.toMatchObject({ code: 'SESSION_CONFLICT' });
  database.proxy.fault = undefined;
  await expect(blobs.keys()).resolves.toHaveLength(1);
  await expect(keysOf(client, table, 'a', 'B')).resolves.toHaveLength(1);
  await expect(keysOf(client, table, 'a', 'E')).resolves.toHaveLength(isClaimed ? 2 : 3);
  await expect(itemsOf(client, table, 'a')).resolves.toHaveLength(isClaimed ? 4 : 5);
});
