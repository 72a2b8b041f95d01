import assert from 'node:assert/strict';
import type { AgentState, SessionDirectory } from '@holdfast/core';
import { stateWaiting, WAITINGS } from '../case/execution-states.ts';
import { emptyState, START, storeCase, type UngroupedCase } from '../case/store-case.ts';

const ERROR = {
  name: 'HoldfastError',
  message: 'Unknown agent "a" in the catalog.',
  code: 'AGENT_NOT_FOUND',
};
const FAILED = { error: ERROR, delaysSeconds: [10, 60] };

const working = (): AgentState => emptyState().withExecutionStatus('inProgress', START);

async function dueIds(store: SessionDirectory): Promise<readonly string[]> {
  return (await store.due()).sessions.map(({ sessionId }) => sessionId);
}

/** Failures of work on a session, and the sweeps that wake sessions. */
export const failureCases: readonly UngroupedCase[] = [
  storeCase(
    'a session whose work failed is due after the delay, with its failure in the list',
    async (context) => {
      const { store, clock, created } = context;
      await created('a', { state: working() });
      const failure = { error: ERROR, attempts: 1, at: START, retryAt: START + 10_000 };
      assert.deepEqual(await store.recordFailure('a', FAILED), failure);
      assert.deepEqual((await store.list()).sessions[0]?.failure, failure);
      assert.deepEqual(await dueIds(store), []);
      clock.time = START + 10_000;
      assert.deepEqual(await dueIds(store), ['a']);
      assert.equal((await store.recordFailure('a', FAILED))?.retryAt, START + 70_000);
      const { failure: known } = await store.claim('a', { workerId: 'Ada', leaseSeconds: 60 });
      assert.deepEqual([known?.attempts, known?.error], [2, ERROR]);
    },
  ),
  storeCase(
    'after the last delay a session is a dead letter: it is not due, and listed as waiting for a retry',
    async (context) => {
      const { store, clock, created } = context;
      await created('a', { state: working() });
      await created('b', { state: stateWaiting(emptyState(), WAITINGS.approval) });
      for (let attempt = 0; attempt < 3; attempt++) await store.recordFailure('a', FAILED);
      clock.time = START + 1e9;
      assert.deepEqual(await dueIds(store), []);
      const { sessions } = await store.list({ waitingFor: 'retry' });
      assert.deepEqual(
        sessions.map(({ sessionId, failure }) => [sessionId, failure?.attempts]),
        [['a', 3]],
      );
      assert.equal((await store.list({ waitingFor: 'approval' })).sessions.length, 1);
      await store.enqueue('a', { id: 'i', content: null });
      assert.deepEqual(await dueIds(store), ['a']);
      assert.equal((await store.list({ waitingFor: 'retry' })).sessions.length, 0);
    },
  ),
  storeCase(
    'a failure is cleared by a save with progress, and by recordFailure without a failure',
    async (context) => {
      const { store, created } = context;
      for (const id of ['a', 'b']) {
        const base = await created(id, { state: working() });
        await store.recordFailure(id, FAILED);
        if (id === 'b') await store.recordFailure(id, undefined);
        else await store.save(base.withState(base.state.withFailure(new Error('No.'), START)), { base });
      }
      const { sessions } = await store.list();
      assert.deepEqual(
        sessions.map((session) => 'failure' in session),
        [false, false],
      );
      assert.deepEqual(await dueIds(store), ['b']);
      assert.equal(await store.recordFailure('nowhere', FAILED), undefined);
    },
  ),
  storeCase(
    'of several callers that take a due session, one gets it, and it is not due for the given time',
    async (context) => {
      const { store, clock, created } = context;
      await created('a', { state: working() });
      const [due] = (await store.due()).sessions;
      assert(due, 'The session is due.');
      const taken = await Promise.all(Array.from({ length: 8 }, () => store.takeDue(due, 60)));
      assert.equal(taken.filter(Boolean).length, 1);
      assert.deepEqual(await dueIds(store), []);
      clock.time = START + 60_000;
      assert.deepEqual(await dueIds(store), ['a']);
      assert.equal(await store.takeDue({ sessionId: 'nowhere', dueAt: START }, 60), false);
    },
  ),
  storeCase('a taken session is due again after an item, and after a claim that ended', async (context) => {
    const { store, created } = context;
    for (const id of ['a', 'b']) await created(id, { state: working() });
    for (const due of (await store.due()).sessions) assert.equal(await store.takeDue(due, 60), true);
    await store.enqueue('a', { id: 'i', content: null });
    assert.deepEqual(await dueIds(store), ['a']);
    const { claim } = await store.claim('b', { workerId: 'Ada', leaseSeconds: 60 });
    await store.release(claim);
    assert.deepEqual((await dueIds(store)).toSorted(), ['a', 'b']);
  }),
  storeCase('due regards how long a session has been due', async (context) => {
    const { store, clock, created } = context;
    await created('a', { state: working() });
    clock.time = START + 30_000;
    assert.equal((await store.due({ dueForSeconds: 30 })).sessions.length, 1);
    assert.equal((await store.due({ dueForSeconds: 31 })).sessions.length, 0);
  }),
];
