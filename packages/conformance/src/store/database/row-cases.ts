import assert from 'node:assert/strict';
import { userMessage, type AgentSession, type Message } from '@holdfast/core';
import type { CreateOptions } from '@holdfast/core/store';
import { stateOfEveryPart, withEveryPartChanged } from '../case/every-part.ts';
import { sampleMessages } from '../case/sample-messages.ts';
import {
  START,
  storeCase,
  withFact,
  type CaseContext,
  type Fault,
  type UngroupedCase,
} from '../case/store-case.ts';

const ADA = { workerId: 'Ada', leaseSeconds: 60 };
/** The time after which `prune` may remove what a store keeps for a while. */
const KEPT_SECONDS = 3 * 24 * 3_600;
const ITEMS = 20;
const [ROUNDS, DROPPED] = [10, 50];
/** The rows that may remain of the messages of one round. */
const TRUNCATED_ROWS = 2 * DROPPED;
const MAX_REQUESTS = 50;

/** Counts the rows of the storage, after `prune` has removed what the store keeps for a while. */
async function rowsOf({ store, clock, abilities }: CaseContext): Promise<number> {
  assert(abilities.countRows, 'The harness lacks the ability "countRows".');
  clock.time += KEPT_SECONDS * 1_000;
  await store.prune();
  return abilities.countRows();
}

/** Counts the rows of a store without sessions. Its first session may have left rows that describe the storage. */
async function emptyRowsOf(context: CaseContext): Promise<number> {
  await context.created('first');
  await context.store.delete('first');
  return rowsOf(context);
}

/** Counts the rows that a function adds. */
async function addedRows(context: CaseContext, act: () => Promise<unknown>): Promise<number> {
  const before = await rowsOf(context);
  await act();
  return (await rowsOf(context)) - before;
}

/** Creates a session with content of every kind, and with items in its inbox. */
async function createFull({ store, session }: CaseContext, options?: CreateOptions): Promise<AgentSession> {
  const unsaved = session('a', { state: stateOfEveryPart(), parentId: 'parent' });
  await store.create(unsaved, options);
  for (let count = 0; count < ITEMS; count++)
    await store.enqueue('a', { id: `item ${count}`, content: count });
  const { session: base, claim } = await store.claim('a', ADA);
  const saved = await store.save(base.withState(withEveryPartChanged(base.state)), {
    base,
    epoch: claim.epoch,
  });
  await store.release(claim);
  return saved;
}

/** A session that has expired, and that `prune` has not removed. */
async function createExpired(context: CaseContext): Promise<void> {
  const { clock } = context;
  await createFull(context, { expiry: { at: clock.time + 1_000 } });
  clock.time += 1_000;
}

const removals = [
  storeCase('a deleted session leaves no rows', async (context) => {
    const empty = await emptyRowsOf(context);
    await createFull(context);
    await context.store.delete('a');
    assert.equal(await rowsOf(context), empty);
  }),
  storeCase('an expired session leaves no rows after prune', async (context) => {
    const empty = await emptyRowsOf(context);
    await createExpired(context);
    assert.equal(await rowsOf(context), empty);
  }),
  storeCase('a session that is created again leaves no rows of the one before', async (context) => {
    const { store, created } = context;
    await emptyRowsOf(context);
    const expected = await addedRows(context, () => created('b'));
    const added = await addedRows(context, async () => {
      await createExpired(context);
      await created('a');
    });
    assert.equal(added, expected, 'a session over an expired one');
    await store.delete('a');
    const anew = await addedRows(context, async () => {
      await createFull(context);
      await store.delete('a');
      await created('a');
    });
    assert.equal(anew, expected, 'a session over a deleted one');
  }),
];

/** Claims a session and saves once. Acknowledges all waiting items. */
async function useItems({ store }: CaseContext, id: string): Promise<void> {
  const { session: base, claim, inbox } = await store.claim(id, ADA);
  await store.save(withFact(base, 'n', 1), { base, epoch: claim.epoch, acknowledge: inbox });
  await store.release(claim);
}

/** Appends messages to a session, and drops them, many times. */
async function appendAndDrop({ store }: CaseContext, first: AgentSession, count: number): Promise<void> {
  let base = first;
  for (let round = 0; round < ROUNDS; round++) {
    for (const messages of [sampleMessages(count, round * DROPPED), []]) {
      const state = base.state.withMessages(messages, START).withMetadata('n', base.version, START);
      base = await store.save(base.withState(state), { base });
    }
  }
}

const contents = [
  storeCase('used items leave no rows', async (context) => {
    const { store, created } = context;
    await emptyRowsOf(context);
    for (const id of ['a', 'b']) await created(id);
    const expected = await addedRows(context, () => useItems(context, 'b'));
    const added = await addedRows(context, async () => {
      for (let count = 0; count < ITEMS; count++)
        await store.enqueue('a', { id: `item ${count}`, content: null });
      await useItems(context, 'a');
    });
    assert.equal(added, expected);
  }),
  storeCase('dropped messages leave no rows, or the rows of a few', async (context) => {
    const { created } = context;
    await emptyRowsOf(context);
    const [few, many] = [await created('b'), await created('a')];
    const expected = await addedRows(context, () => appendAndDrop(context, few, 1));
    const added = await addedRows(context, () => appendAndDrop(context, many, DROPPED));
    const left = `${added} rows after ${ROUNDS * DROPPED} dropped messages, ${expected} after ${ROUNDS}`;
    assert(added <= expected + TRUNCATED_ROWS, left);
  }),
];

const LARGE_TEXTS = 6;
const LARGE_LENGTH = 60_000;

let large: readonly Message[] | undefined;

/** Messages that compress badly, so that a store may write them in several requests. */
function largeMessages(): readonly Message[] {
  large ??= newLargeMessages();
  return large;
}

function newLargeMessages(): readonly Message[] {
  let seed = 1;
  const character = (): string => {
    seed = (seed * 48_271) % 2_147_483_647;
    return String.fromCodePoint(33 + (seed % 90));
  };
  return Array.from({ length: LARGE_TEXTS }, (_, index) => {
    const text = Array.from({ length: LARGE_LENGTH }, character).join('');
    return userMessage(text, { id: `90000000-0000-4000-8000-00000000000${index}`, createdAt: START });
  });
}

/** Calls a function with a fault in its nth request. Returns whether it sent that request. */
async function isStruck(
  { abilities }: CaseContext,
  fault: Fault,
  nth: number,
  act: () => Promise<unknown>,
): Promise<boolean> {
  const { faults } = abilities;
  assert(faults, 'The harness lacks the ability "faults".');
  await faults.arm(fault, nth);
  await Promise.allSettled([act()]);
  return faults.disarm();
}

/** Creates and saves a large session, and deletes it. The nth request of the creation or of the save fails. */
async function failAndDelete(
  context: CaseContext,
  what: 'create' | 'save',
  fault: Fault,
  nth: number,
): Promise<boolean> {
  const { store, session, created } = context;
  const base = what === 'save' ? await created('a') : session('a');
  const large = base.withState(base.state.withMessages(largeMessages(), START));
  const struck = await isStruck(context, fault, nth, () =>
    what === 'save' ? store.save(large, { base }) : store.create(large),
  );
  await store.delete('a');
  return struck;
}

const failures = (['create', 'save'] as const).flatMap((what) =>
  (['cut', 'loseReply'] as const).map((fault) =>
    storeCase(
      `a ${what} that fails by the fault ${fault} leaves no rows after the session is deleted`,
      async (context) => {
        const empty = await emptyRowsOf(context);
        for (let nth = 1; await failAndDelete(context, what, fault, nth); nth++) {
          assert.equal(await rowsOf(context), empty, `request ${nth}`);
          assert(nth <= MAX_REQUESTS, `The ${what} sends more than ${MAX_REQUESTS} requests.`);
        }
      },
      { needs: ['countRows', fault] },
    ),
  ),
);

const needCount = (one: UngroupedCase): UngroupedCase => ({ ...one, needs: ['countRows'] });

/** The rows that remain in the storage of what was deleted, replaced, dropped or used, or of a write that failed. */
export const rowCases: readonly UngroupedCase[] = [...[...removals, ...contents].map(needCount), ...failures];
