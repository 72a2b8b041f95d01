import assert from 'node:assert/strict';
import type { AgentState, SessionDirectory } from '@holdfast/core';
import type { DueQuery } from '@holdfast/core/store';
import { stateAfterSteps, stateInStep, stateWaiting, WAITINGS, WAKE_AT } from '../case/execution-states.ts';
import { named } from '../case/inbox-contents.ts';
import { emptyState, START, storeCase, type CaseContext, type UngroupedCase } from '../case/store-case.ts';

const LEASE = { workerId: 'Ada', leaseSeconds: 60 };
const NEVER = START + 1e12;

/**
 * The instants at which sessions are due, by session id, in milliseconds after `START`. The default query returns all
 * sessions that will ever be due.
 */
async function dueOf(
  store: SessionDirectory,
  query: DueQuery = { at: NEVER },
): Promise<Record<string, number>> {
  const { sessions } = await store.due(query);
  return Object.fromEntries(sessions.map(({ sessionId, dueAt }) => [sessionId, dueAt - START]));
}

type Rule = readonly [what: string, make: (state: AgentState) => AgentState, dueAfter: number | undefined];

const SLEEP_MS = WAKE_AT - START;

const RULES: readonly Rule[] = [
  ['a session without an execution', (state) => state, undefined],
  ['a pending execution', (state) => state.withExecutionStatus('pending', START), 0],
  ['an execution in progress', (state) => state.withExecutionStatus('inProgress', START), 0],
  ['an execution in an open step', stateInStep, 0],
  ['a completed execution', stateAfterSteps, undefined],
  ['a failed execution', (state) => state.withFailure(new Error('No.'), START), undefined],
  ['an execution that waits for approval', (state) => stateWaiting(state, WAITINGS.approval), undefined],
  ['an execution that waits for an answer', (state) => stateWaiting(state, WAITINGS.answer), SLEEP_MS],
  ['an execution that waits for input', (state) => stateWaiting(state, WAITINGS.input), undefined],
  ['an execution that waits for a child', (state) => stateWaiting(state, WAITINGS.child), undefined],
  ['an execution that waits for an instant', (state) => stateWaiting(state, WAITINGS.until), SLEEP_MS],
  [
    'an execution that waits for several instants and an approval',
    (state) =>
      stateWaiting(state, [...WAITINGS.approval, ...WAITINGS.until, { type: 'until', until: START + 5_000 }]),
    5_000,
  ],
];

const rules = RULES.map(([what, make, dueAfter]) =>
  storeCase(
    `${what} is ${dueAfter === undefined ? 'never due' : `due after ${dueAfter} ms`}`,
    async (context) => {
      const { store, clock, created } = context;
      await created('whole', { state: make(emptyState()) });
      const base = await created('grown');
      assert.deepEqual(Object.hasOwn(await dueOf(store), 'grown'), false);
      await store.save(base.withState(make(base.state)), { base });
      const expected = dueAfter === undefined ? {} : { grown: dueAfter, whole: dueAfter };
      assert.deepEqual(await dueOf(store), expected);
      if (dueAfter === undefined) return;
      clock.time = START + dueAfter;
      assert.deepEqual(await dueOf(store, {}), expected);
      assert.deepEqual(await dueOf(store, { at: START + dueAfter - 1 }), {});
      clock.time -= 1;
      assert.deepEqual(await dueOf(store, {}), {});
    },
  ),
);

const claims = [
  storeCase('a claimed session is due when its lease expires', async ({ store, clock, created }) => {
    await created('a', { state: stateInStep(emptyState()) });
    const { session, claim } = await store.claim('a', LEASE);
    assert.deepEqual(await dueOf(store), { a: 60_000 });
    assert.deepEqual(await dueOf(store, { at: START + 59_999 }), {});
    clock.time += 10_000;
    await store.renew(claim, LEASE);
    assert.deepEqual(await dueOf(store), { a: 70_000 });
    await store.save(session, { base: session, epoch: claim.epoch });
    assert.deepEqual(await dueOf(store), { a: 70_000 });
    await store.enqueue('a', { id: 'i', content: 1 });
    assert.deepEqual(await dueOf(store), { a: 70_000 });
  }),
  storeCase('a claimed session without work is due when its lease expires', async (context) => {
    const { store, created } = context;
    await created('a');
    const { claim } = await store.claim('a', LEASE);
    assert.deepEqual(await dueOf(store), { a: 60_000 });
    await store.release(claim);
    assert.deepEqual(await dueOf(store), {});
  }),
  storeCase('a released session is due as its state requires', async ({ store, clock, created }) => {
    const base = await created('a', { state: stateInStep(emptyState()) });
    clock.time += 5_000;
    const { claim } = await store.claim('a', LEASE);
    await store.release(claim);
    assert.deepEqual(await dueOf(store), { a: 0 });
    const again = await store.claim('a', LEASE);
    const asleep = base.withState(stateWaiting(base.state, WAITINGS.until));
    await store.save(asleep, { base: again.session, epoch: again.claim.epoch });
    assert.deepEqual(await dueOf(store), { a: SLEEP_MS });
    await store.release(again.claim);
    assert.deepEqual(await dueOf(store), { a: SLEEP_MS });
  }),
  storeCase(
    'a session whose lease ends after its sleep is due when the lease expires',
    async ({ store, created }) => {
      await created('a', { state: stateWaiting(emptyState(), WAITINGS.until) });
      await store.claim('a', { workerId: 'Ada', leaseSeconds: 2 * (SLEEP_MS / 1_000) });
      assert.deepEqual(await dueOf(store), { a: 2 * SLEEP_MS });
    },
  ),
];

const inboxes = [
  storeCase('a session with inbox items is due since its oldest item', async ({ store, clock, created }) => {
    const base = await created('a');
    clock.time += 1_000;
    await store.enqueue('a', { id: 'i', content: 1 });
    clock.time += 1_000;
    await store.enqueue('a', { id: 'j', content: 2 });
    assert.deepEqual(await dueOf(store), { a: 1_000 });
    await store.save(base, { acknowledge: named('i', 'j') });
    assert.deepEqual(await dueOf(store), {});
  }),
  storeCase(
    'an inbox item makes a session due that sleeps or waits for a decision',
    async ({ store, clock, created }) => {
      await created('sleeps', { state: stateWaiting(emptyState(), WAITINGS.until) });
      await created('asks', { state: stateWaiting(emptyState(), WAITINGS.approval) });
      clock.time += 1_000;
      for (const id of ['sleeps', 'asks']) await store.enqueue(id, { id: 'i', content: 1 });
      assert.deepEqual(await dueOf(store), { asks: 1_000, sleeps: 1_000 });
    },
  ),
  storeCase(
    'an inbox item of a session that is already due does not change the time',
    async ({ store, clock, created }) => {
      await created('a', { state: stateInStep(emptyState()) });
      clock.time += 1_000;
      await store.enqueue('a', { id: 'i', content: 1 });
      assert.deepEqual(await dueOf(store), { a: 0 });
    },
  ),
];

const absent = [
  storeCase('only active sessions are due', async ({ store, created }) => {
    let session = await created('a', { state: stateInStep(emptyState()) });
    await store.enqueue('a', { id: 'i', content: 1 });
    for (const status of ['suspended', 'completed', 'failed', 'deleted'] as const) {
      session = await store.save(session.withStatus(status), { base: session });
      assert.deepEqual(await dueOf(store), {}, status);
    }
    await store.enqueue('a', { id: 'j', content: 1 });
    const { claim } = await store.claim('a', LEASE);
    assert.deepEqual(await dueOf(store), {});
    await store.release(claim);
    await store.save(session.withStatus('active'), { base: session });
    assert.deepEqual(await dueOf(store), { a: 0 });
  }),
  storeCase(
    'a deleted session is not due, and a new session under its id is due by its own state',
    async (context) => {
      const { store, created } = context;
      await created('a', { state: stateInStep(emptyState()) });
      await store.delete('a');
      assert.deepEqual(await dueOf(store), {});
      await created('a');
      assert.deepEqual(await dueOf(store), {});
    },
  ),
  storeCase('a session that has no more work is not due', async ({ store, created }) => {
    const base = await created('a', { state: stateInStep(emptyState()) });
    await store.save(base.withState(base.state.withExecutionStatus('completed', START)), { base });
    assert.deepEqual(await dueOf(store), {});
  }),
];

/** Creates sessions that are due at these seconds, in this order. */
async function sleepers({ created }: CaseContext, seconds: Readonly<Record<string, number>>): Promise<void> {
  for (const [id, second] of Object.entries(seconds)) {
    const until = START + second * 1_000;
    await created(id, { state: stateWaiting(emptyState(), [{ type: 'until', until }]) });
  }
}

async function pagesOf(store: SessionDirectory, limit: number, between?: (id: string) => Promise<unknown>) {
  const pages: string[][] = [];
  let cursor: string | undefined;
  do {
    const page = await store.due({ at: NEVER, limit, cursor });
    pages.push(page.sessions.map(({ sessionId }) => sessionId));
    for (const id of pages.at(-1) ?? []) await between?.(id);
    cursor = page.cursor;
    assert(pages.length <= 100, 'The pages never end.');
  } while (cursor !== undefined);
  return pages;
}

const TIMES = { b: 3, late: 9, a: 3, B: 3, early: 1, '\u{1f98a}': 3, '\ue000': 3, 'a\0': 3 };
const ORDER = ['early', 'B', 'a', 'a\0', 'b', '\ue000', '\u{1f98a}', 'late'];

const paging = [
  storeCase('an empty store has no due sessions', async ({ store }) => {
    assert.deepEqual(await store.due(), { sessions: [], unreadable: [], cursor: undefined });
  }),
  storeCase('sessions are sorted by the time since which they are due, then by id', async (context) => {
    const { store, clock } = context;
    await sleepers(context, TIMES);
    const { sessions, cursor } = await store.due({ at: NEVER });
    assert.deepEqual(
      sessions.map(({ sessionId }) => sessionId),
      ORDER,
    );
    assert.equal(cursor, undefined);
    clock.time += 8_999;
    assert.deepEqual(Object.keys(await dueOf(store, {})), ORDER.slice(0, -1));
  }),
  storeCase('pages of due sessions contain each session once', async (context) => {
    await sleepers(context, TIMES);
    for (const limit of [1, 2, 3, 7, 8, 100]) {
      const pages = await pagesOf(context.store, limit);
      assert.deepEqual(pages.flat(), ORDER);
      assert.equal(pages.length, Math.ceil(ORDER.length / limit));
    }
  }),
  storeCase('a session that is worked on between two pages hides no other session', async (context) => {
    const { store } = context;
    await sleepers(context, TIMES);
    const seeTo = (id: string) => store.claim(id, { workerId: 'Ada', leaseSeconds: 1 });
    const pages = await pagesOf(store, 2, async (id) => (id === 'B' ? store.delete(id) : seeTo(id)));
    assert.deepEqual(pages.flat(), ORDER);
  }),
  storeCase('a page of due sessions has 50 sessions by default', async (context) => {
    const { store, created } = context;
    const state = stateInStep(emptyState());
    for (let index = 0; index < 101; index++) await created(`session ${index}`, { state });
    for (const [limit, sizes] of [
      [undefined, 50],
      [100, 100],
    ] as const) {
      assert.equal((await store.due({ limit })).sessions.length, sizes);
    }
  }),
];

/** When sessions are due. */
export const dueCases: readonly UngroupedCase[] = [...rules, ...claims, ...inboxes, ...absent, ...paging];
