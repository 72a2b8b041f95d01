import assert from 'node:assert/strict';
import type { AgentSession, SessionStore } from '@holdfast/core';
import type { ExecutionSummary, KeptRevision } from '@holdfast/core/store';
import { CHANGES, fullState } from './change-cases.ts';
import { stateAfterSteps, stateInStep, stateOfSteps } from '../case/execution-states.ts';
import { emptyState, START, storeCase, withFact, type UngroupedCase } from '../case/store-case.ts';

/** Saves a session with so many executions, one a save, and returns their ids, the newest first. */
async function afterExecutions(store: SessionStore, base: AgentSession, count: number): Promise<string[]> {
  let session = base;
  const ids: string[] = [];
  for (let done = 0; done < count; done++) {
    session = await store.save(session.withState(stateAfterSteps(session.state.forNextExecution(START))), {
      base: session,
    });
    ids.unshift(session.state.executionId ?? '');
  }
  return ids;
}

async function executionPages(store: SessionStore, limit: number): Promise<ExecutionSummary[][]> {
  const pages: ExecutionSummary[][] = [];
  let cursor: string | undefined;
  do {
    const page = await store.executions('a', { limit, cursor });
    pages.push([...page.executions]);
    ({ cursor } = page);
  } while (cursor !== undefined);
  return pages;
}

const executions = [
  storeCase('a session without an execution has had none', async ({ store, created }) => {
    await created('a');
    assert.deepEqual(await store.executions('a'), { executions: [], unreadable: [], cursor: undefined });
  }),
  storeCase('the executions of a session are listed, newest first', async ({ store, created }) => {
    const ids = await afterExecutions(store, await created('a'), 5);
    const { executions: found, cursor } = await store.executions('a');
    assert.deepEqual(
      found.map(({ executionId }) => executionId),
      ids,
    );
    assert.equal(cursor, undefined);
    for (const { status, steps, seconds, usage, startedAt, completedAt } of found) {
      assert.deepEqual([status, steps, seconds, usage.cost], ['completed', 3, 6.5, 0.03]);
      assert.deepEqual([startedAt, completedAt], [START, START + 7_000]);
    }
  }),
  storeCase('executions have pages', async ({ store, created }) => {
    const ids = await afterExecutions(store, await created('a'), 7);
    for (const limit of [1, 2, 3, 7]) {
      const pages = await executionPages(store, limit);
      assert.deepEqual(
        pages.flat().map(({ executionId }) => executionId),
        ids,
      );
      assert(pages.every(({ length }) => length <= limit));
    }
  }),
  storeCase(
    'an unfinished execution is the first, and stays listed when another follows',
    async (context) => {
      const { store, created } = context;
      const base = await created('a');
      const running = await store.save(base.withState(stateInStep(base.state)), { base });
      const [only] = (await store.executions('a')).executions;
      assert.deepEqual([only?.executionId, only?.status], [running.state.executionId, 'inProgress']);
      const next = await store.save(running.withState(stateAfterSteps(emptyState())), { base: running });
      const found = (await store.executions('a')).executions.map(({ executionId }) => executionId);
      assert.deepEqual(found, [next.state.executionId, running.state.executionId]);
    },
  ),
  storeCase('several executions between two saves are all listed', async ({ store, created }) => {
    const base = await created('a');
    const first = base.withState(stateAfterSteps(base.state));
    const second = first.withState(stateAfterSteps(emptyState()));
    const saved = await store.save(second.withState(emptyState()), { base });
    assert.equal(saved.totals.executions, 2);
    assert.deepEqual(
      (await store.executions('a')).executions.map(({ executionId }) => executionId),
      [second.state.executionId, first.state.executionId],
    );
  }),
  storeCase('a save that is refused lists no execution', async ({ store, created }) => {
    const base = await created('a');
    const done = base.withState(stateAfterSteps(base.state)).withState(emptyState());
    await store.save(withFact(base, 'n', 1), { base });
    await assert.rejects(store.save(done, { base }));
    assert.deepEqual((await store.executions('a')).executions, []);
  }),
  storeCase('a save that is repeated lists its execution once', async ({ store, created }) => {
    const base = await created('a');
    const done = base.withState(stateAfterSteps(base.state)).withState(emptyState());
    for (let repeated = 0; repeated < 3; repeated++) await store.save(done, { base, operationId: 'o' });
    assert.equal((await store.executions('a')).executions.length, 1);
  }),
  storeCase(
    'a session that is created again has none of the executions before',
    async ({ store, created }) => {
      await afterExecutions(store, await created('a'), 3);
      await store.delete('a');
      const base = await created('a');
      assert.deepEqual((await store.executions('a')).executions, []);
      const ids = await afterExecutions(store, base, 2);
      const { executions: found } = await store.executions('a');
      assert.deepEqual(
        found.map(({ executionId }) => executionId),
        ids,
      );
    },
  ),
];

const KEPT = { keptRevisions: 1_000 };
const versionsOf = (found: readonly KeptRevision[]): number[] => found.map(({ version }) => version);

/** Asserts that the store can load each of these sessions again, and no other. */
async function assertKept(store: SessionStore, saved: readonly AgentSession[]): Promise<void> {
  const { revisions } = await store.revisions('a', { limit: 100 });
  assert.deepEqual(versionsOf(revisions), saved.map(({ version }) => version).toReversed());
  for (const session of saved) assert.deepEqual(await store.loadRevision('a', session.version), session);
  const first = saved[0]?.version ?? 1;
  if (first > 1) assert.equal(await store.loadRevision('a', first - 1), undefined);
  assert.equal(await store.loadRevision('a', (saved.at(-1)?.version ?? 0) + 1), undefined);
}

const revisions = [
  storeCase('without kept revisions, only the last can be loaded', async ({ store, created }) => {
    const base = await created('a');
    const saved = await store.save(withFact(base, 'n', 1), { base });
    await assertKept(store, [saved]);
  }),
  storeCase(
    'every change can be undone',
    async ({ store, session }) => {
      let base = await store.create(session('a', { state: fullState(), title: 'First' }));
      const saved = [base];
      for (const [what, change] of Object.entries(CHANGES)) {
        if (what.startsWith('5,000')) continue;
        const state = change(base.state.execution ? base.state.forNextExecution(START) : base.state);
        base = await store.save(base.withState(state).withDescription({ title: what }), { base });
        saved.push(base);
      }
      await assertKept(store, saved);
    },
    KEPT,
  ),
  storeCase(
    'a run can be loaded as it was after each step',
    async ({ store, session, created }) => {
      let base = await created('a');
      const saved = [base];
      for (let steps = 1; steps <= 6; steps++) {
        const loaded = steps % 2 === 0 ? await store.load('a') : undefined;
        base = loaded ?? base;
        base = await store.save(base.withState(stateOfSteps(base.state, 1)), { base });
        saved.push(base);
      }
      const next = stateAfterSteps(base.state.forNextExecution(START));
      saved.push(await store.save(base.withState(next), { base }));
      await assertKept(store, saved);
      void session;
    },
    KEPT,
  ),
  storeCase(
    'the oldest revisions are dropped',
    async ({ store, created }) => {
      let base = await created('a');
      const saved = [base];
      for (let count = 1; count <= 12; count++) {
        base = await store.save(withFact(base, 'n', count), { base });
        saved.push(base);
        await assertKept(store, saved.slice(-5));
      }
    },
    { keptRevisions: 5 },
  ),
  storeCase(
    'a save without a base begins the history anew',
    async ({ store, created }) => {
      const first = await created('a');
      const second = await store.save(withFact(first, 'n', 1), { base: first });
      const third = await store.save(withFact(second, 'n', 2));
      await assertKept(store, [third]);
      const fourth = await store.save(withFact(third, 'n', 3), { base: third });
      await assertKept(store, [third, fourth]);
    },
    KEPT,
  ),
  storeCase(
    'a revision names its checkpoint and its worker',
    async ({ store, clock, created }) => {
      await created('a');
      const { session, claim } = await store.claim('a', { workerId: 'Ada', leaseSeconds: 60 });
      clock.time += 1_000;
      const state = stateInStep(session.state);
      await store.save(session.withState(state), { base: session, epoch: claim.epoch, checkpoint: 'step' });
      const { revisions: found } = await store.revisions('a');
      const [last, first] = found;
      assert.deepEqual([last?.checkpoint, last?.workerId, last?.savedAt], ['step', 'Ada', START + 1_000]);
      assert.deepEqual([last?.executionStatus, first?.workerId], ['inProgress', undefined]);
      assert((last?.writtenLength ?? 0) > 100);
    },
    KEPT,
  ),
  storeCase(
    'revisions have pages',
    async ({ store, created }) => {
      let base = await created('a');
      for (let count = 1; count <= 9; count++) base = await store.save(withFact(base, 'n', count), { base });
      const found: number[] = [];
      let cursor: string | undefined;
      do {
        const page = await store.revisions('a', { limit: 3, cursor });
        found.push(...versionsOf(page.revisions));
        ({ cursor } = page);
      } while (cursor !== undefined);
      assert.deepEqual(found, [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    },
    KEPT,
  ),
  storeCase(
    'a session that is created again has none of the revisions before',
    async ({ store, created }) => {
      const base = await created('a');
      await store.save(withFact(base, 'n', 1), { base });
      await store.delete('a');
      await assertKept(store, [await created('a')]);
    },
    KEPT,
  ),
];

/** The earlier executions and revisions of a session. */
export const historyCases: readonly UngroupedCase[] = [...executions, ...revisions];
