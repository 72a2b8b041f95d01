import { randomBytes } from 'node:crypto';
import { newSession, testClock } from '@holdfast/conformance';
import { expect, test } from 'vitest';
import { itemBytes } from '../src/item-size.ts';
import { isFlip, itemsOf } from './stored-items.ts';
import { testBlobs } from './test-blobs.ts';
import { testDatabase } from './test-database.ts';

const database = testDatabase();
const ID = '5a8e2f60-5c1c-4f7b-9d0e-2b8f1f6f7a10';

type Reply = Readonly<Record<'ConsumedCapacity', Units | readonly Units[] | undefined>>;
interface Units {
  readonly CapacityUnits: number;
}

/** What each request consumes of the table, as the server says: `A` stands for the write of a header. */
function watchCapacity(): (readonly [operation: string, units: number])[] {
  const consumed: (readonly [string, number])[] = [];
  database.proxy.fault = async (request, forward) => {
    const reply = await forward({ ...request.body, ReturnConsumedCapacity: 'TOTAL' });
    const { ConsumedCapacity = [] } = JSON.parse(reply.body) as Reply;
    const units = [ConsumedCapacity].flat().reduce((total, { CapacityUnits }) => total + CapacityUnits, 0);
    consumed.push([isFlip(request) ? 'A' : request.operation, units]);
    return reply;
  };
  return consumed;
}

test('what it consumes to work on a session', async () => {
  const clock = testClock();
  const table = await database.newTable();
  const store = await database.newStore({ clock, table });
  await store.create(newSession(ID, { parentId: ID }));
  const consumed = watchCapacity();
  const costOf = (): readonly unknown[] => consumed.splice(0);

  await store.enqueue(ID, { id: 'item', content: 'Hello' });
  expect(costOf()).toEqual([
    ['GetItem', 1],
    ['PutItem', 1],
    ['A', 1],
  ]);

  const { session, claim, inbox } = await store.claim(ID, { owner: ID, leaseSeconds: 60 });
  expect(costOf()).toEqual([
    ['Query', 1],
    ['A', 1],
  ]);

  const text = randomBytes(750).toString('base64'); // 1 KB, hardly shorter when packed
  const next = session.withState(session.state.withUserMessage(text));
  const options = { base: session, epoch: claim.epoch, operationId: ID, acknowledge: inbox };
  await store.save(next, options);
  expect(costOf()).toEqual([
    ['PutItem', 2],
    ['A', 1],
    ['BatchWriteItem', 1],
  ]);

  await store.renew(claim, { leaseSeconds: 60 });
  expect(costOf()).toEqual([
    ['GetItem', 1],
    ['A', 1],
  ]);
  await store.release(claim);
  expect(costOf()).toEqual([
    ['GetItem', 1],
    ['A', 1],
  ]);

  const header = (await itemsOf(database.client(), table, ID)).find(({ sk }) => sk?.S === 'A') ?? {};
  expect(itemBytes(header)).toBeLessThan(1_000);
});

test('what it consumes to save and load a value that is a blob', async () => {
  const { blobs } = testBlobs();
  const table = await database.newTable();
  const store = await database.newStore({ table, blobs: { store: blobs } });
  const base = await store.create(newSession(ID, { parentId: ID }));
  const consumed = watchCapacity();
  const text = randomBytes(750_000).toString('base64');
  const session = base.withState(base.state.withUserMessage(text));
  const saved = await store.save(session, { base, operationId: ID });
  expect(consumed.splice(0)).toEqual([
    ['BatchWriteItem', 2],
    ['A', 1],
  ]);
  await store.load(ID);
  expect(consumed.splice(0)).toEqual([['Query', 1]]);
  expect(blobs.operations).toEqual(['put', 'get']);
  // Without its base it is written anew, but for the blob.
  await store.save(saved);
  expect(consumed.splice(0).map(([operation]) => operation)).toEqual([
    'GetItem',
    'Query',
    'PutItem',
    'A',
    'Query',
    'BatchWriteItem',
  ]);
  expect(blobs.operations).toEqual(['put', 'get']);
});
