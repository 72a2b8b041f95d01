import { randomBytes, randomUUID } from 'node:crypto';
import { newSession, testClock, withFact } from '@holdfast/conformance';
import {
  AgentSession,
  AgentState,
  createAgentLoop,
  sendMessage,
  SessionRuntime,
  tool,
  userMessage,
  type AgentLoop,
} from '@holdfast/core';
import { expect, test } from 'vitest';
import { headerFromItem } from '../src/header/header-item.ts';
import { itemBytes } from '../src/table/item.ts';
import { isFlip, itemsOf, type StoredItem } from './support/stored-items.ts';
import { testBlobs } from './support/test-blobs.ts';
import { testDatabase } from './support/test-database.ts';

const database = testDatabase();
const ID = '5a8e2f60-5c1c-4f7b-9d0e-2b8f1f6f7a10';

const STEPS = 20;

/** A text of `length` characters that deflates like the JSON of a service. */
function report(length: number): string {
  const words = ['order', 'shipped', 'Berlin', 'Monday', 'invoice', 'parcel', 'pending', 'Lisbon'];
  let text = '';
  while (text.length < length) text += `${words[text.length % words.length]} ${text.length} `;
  return text.slice(0, length);
}

/** An agent that looks up twenty orders: each step has about 500 characters of the model and 1,300 of the tool. */
function clerk(): AgentLoop {
  let steps = 0;
  return createAgentLoop({
    budget: { maxSteps: STEPS + 1 },
    driver: {
      async infer() {
        if (++steps > STEPS) return { content: [{ type: 'text', text: 'Done.' }] };
        const input = { question: report(200) };
        const call = { type: 'tool-call', toolCallId: `call_${steps}`, toolName: 'look', input } as const;
        const usage = { inputTokens: 1_000, outputTokens: 50 };
        return { content: [{ type: 'text', text: report(300) }, call], usage };
      },
    },
    tools: [
      tool({
        name: 'look',
        description: 'Looks an order up.',
        inputSchema: { type: 'object' },
        execute: () => ({ found: report(1_300) }),
      }),
    ],
  });
}

type Reply = Readonly<Record<'ConsumedCapacity', Units | readonly Units[] | undefined>>;
interface Units {
  readonly CapacityUnits: number;
}

/** Records the consumption of each request, as the server reports it. `A` stands for the write of a header. */
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

test('the consumption of the work on a session', async () => {
  const clock = testClock();
  const table = await database.newTable();
  const store = await database.newStore({ clock, table });
  await store.create(newSession(ID, { parentId: ID }));
  const consumed = watchCapacity();
  const costOf = (): readonly unknown[] => consumed.splice(0);

  await store.enqueue(ID, { id: 'first', content: 'Hello' });
  expect(costOf()).toEqual([
    ['GetItem', 1],
    ['BatchWriteItem', 2],
    ['A', 1],
  ]);
  // While another item waits, the store checks whether it is the same item.
  await store.enqueue(ID, { id: 'second', content: 'Hello' });
  expect(costOf()).toEqual([
    ['GetItem', 1],
    ['Query', 0],
    ['BatchWriteItem', 2],
    ['A', 1],
  ]);

  const { session, claim, inbox } = await store.claim(ID, { workerId: ID, leaseSeconds: 60 });
  expect(costOf()).toEqual([
    ['GetItem', 1],
    ['Query', 1],
    ['Query', 1],
    ['A', 1],
  ]);

  const text = randomBytes(570).toString('base64'); // 760 bytes, hardly shorter when deflated
  const next = session.withState(session.state.withUserMessage(text));
  const options = { base: session, epoch: claim.epoch, operationId: ID, acknowledge: inbox };
  const saved = await store.save(next, options);
  expect(costOf()).toEqual([
    ['PutItem', 1],
    ['A', 1],
    ['Query', 1],
    ['BatchWriteItem', 4],
  ]);
  // A change of the head alone needs no entry of the log.
  const base = await store.save(saved, { base: saved, epoch: claim.epoch });
  expect(costOf()).toEqual([['A', 1]]);

  await store.renew(claim, { leaseSeconds: 60, base });
  expect(costOf()).toEqual([['A', 1]]);
  await store.renew(claim, { leaseSeconds: 60 });
  expect(costOf()).toEqual([
    ['GetItem', 1],
    ['A', 1],
  ]);
  // Another call has written since the store has returned the base. DynamoDB counts a unit for the refused condition.
  await store.release(claim, { base });
  expect(costOf()).toEqual([
    ['A', 0],
    ['GetItem', 1],
    ['A', 1],
  ]);
  const loaded = await store.load(ID);
  expect(costOf()).toEqual([['Query', 1]]);
  await store.load(ID, { base: loaded });
  expect(costOf()).toEqual([['GetItem', 1]]);
  await store.claim(ID, { workerId: ID, leaseSeconds: 60, base: loaded });
  expect(costOf()).toEqual([
    ['GetItem', 1],
    ['A', 1],
  ]);
});

test('a step of 2 KB in the session of an owner consumes 3 write units of the table, and none of an index', async () => {
  const table = await database.newTable();
  const store = await database.newStore({ table });
  const runtime = new SessionRuntime({ store, agents: { clerk: clerk() } });
  const session = AgentSession.create({ sessionId: ID, owner: 'Ada', definition: { name: 'clerk' } });
  const { sessionId } = await store.create(session);
  const consumed = watchCapacity();
  const indexed: unknown[] = [];
  const capacity = database.proxy.fault;
  database.proxy.fault = async (request, forward) => {
    const { shard, owner, created, active, due, sweep } = Object(request.body['Item']) as StoredItem;
    if (isFlip(request)) indexed.push({ shard, owner, created, active, due, sweep });
    return capacity ? capacity(request, forward) : forward();
  };
  await runtime.execute(sessionId, sendMessage('How are my orders?'));
  const [flip, entry] = [
    ['A', 1],
    ['PutItem', 1],
  ];
  const step = [flip, entry, flip]; // the head alone holds the response of the model
  const [claim, begin, end, release] = [
    [['GetItem', 1], ['Query', 1], flip], // the runtime does not know the session yet
    [entry, flip],
    [entry, flip],
    [flip],
  ];
  const steps = Array.from({ length: STEPS }, () => step).flat();
  expect(consumed).toEqual([claim, begin, steps, end, release].flat());
  // The requests from the claim to the last save before the release.
  expect(new Set(indexed.slice(1, -1).map((keys) => JSON.stringify(keys))).size).toBe(1);
});

test('a header after 16 used items is smaller than 1 KB', async () => {
  const clock = testClock();
  const table = await database.newTable();
  const store = await database.newStore({ clock, table, expiry: { afterSeconds: 3_600 } });
  await store.create(newSession(ID, { parentId: ID }));
  const { session, claim } = await store.claim(ID, { workerId: ID, leaseSeconds: 60 });
  let saved = session;
  for (let turn = 0; turn < 17; turn++) {
    await store.enqueue(ID, { id: randomUUID(), content: 'Hello' });
    const { inbox } = await store.renew(claim, { leaseSeconds: 60 });
    const options = { base: saved, epoch: claim.epoch, operationId: ID, acknowledge: inbox };
    saved = await store.save(withFact(saved, 'turn', turn), options);
  }
  await store.enqueue(ID, { id: randomUUID(), content: 'Hello' });
  const header = (await itemsOf(database.client(), table, ID)).find(({ sk }) => sk?.S === 'A') ?? {};
  const { record } = await headerFromItem(header);
  expect(record.usedIds).toHaveLength(16);
  expect(itemBytes(header)).toBeLessThan(1_024);
});

test('a save that keeps a revision sends as many requests as one that keeps none', async () => {
  const clock = testClock();
  const table = await database.newTable();
  const store = await database.newStore({ clock, table, keptRevisions: 30 });
  const messages = Array.from({ length: 100 }, (_, index) => userMessage(report(index + 900)));
  const state = AgentState.empty().withMessages(messages);
  let base = await store.create(newSession(ID, { state }));
  const consumed = watchCapacity();
  for (let save = 1; save <= 60; save++) {
    const next = base.withState(base.state.withUserMessage(report(900)));
    base = await store.save(next, { base, operationId: ID });
    const removal =
      save === 53
        ? [
            ['Query', 3],
            ['BatchWriteItem', 24],
          ]
        : [];
    expect(consumed.splice(0)).toEqual([['BatchWriteItem', 2], ['A', 1], ...removal]);
  }
  await store.save(base, { base });
  expect(consumed.splice(0)).toEqual([
    ['PutItem', 1],
    ['A', 1],
  ]);
});

test('the consumption of a save and a load of a value that is a blob', async () => {
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
  // A save without a base writes everything again except the blob.
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
