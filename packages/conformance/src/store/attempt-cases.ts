import assert from 'node:assert/strict';
import type { AgentSession } from '@holdfast/core';
import { stateAfterSteps, stateInStep } from './execution-states.ts';
import { START, storeCase, withFact } from './store-case.ts';
import type { CaseContext, UngroupedCase } from './store-case.ts';

const ADA = { workerId: 'Ada', leaseSeconds: 60 };

/** Claims a session for the next worker, and lets the claim expire. */
async function attempts(
  { store, clock }: CaseContext,
  count: number,
  work?: (session: AgentSession, epoch: number) => Promise<unknown>,
): Promise<number[]> {
  const seen: number[] = [];
  for (let index = 0; index < count; index++) {
    const workerId = `worker at ${clock.time}`;
    const { session, claim, attempt } = await store.claim('a', { workerId, leaseSeconds: 60 });
    seen.push(attempt);
    await work?.(session, claim.epoch);
    clock.time += 60_000;
  }
  return seen;
}

/** Counting attempts at a session. */
export const attemptCases: readonly UngroupedCase[] = [
  storeCase('claims that expire are counted as attempts', async (context) => {
    await context.created('a');
    assert.deepEqual(await attempts(context, 4), [1, 2, 3, 4]);
    const last = await context.store.claim('a', ADA);
    assert.deepEqual([last.claim.epoch, last.attempt], [5, 5]);
    assert.equal(await context.store.release(last.claim), true);
    assert.deepEqual(await attempts(context, 2), [1, 2]);
  }),
  storeCase('a save that closes no step does not reset the attempts', async (context) => {
    const { store, created } = context;
    const base = await created('a');
    const running = base.withState(base.state.withExecutionStatus('inProgress', START));
    await store.save(running, { base });
    const facts = async (session: AgentSession, epoch: number) =>
      store.save(withFact(session, 'epoch', epoch), { base: session, epoch });
    assert.deepEqual(await attempts(context, 2, facts), [1, 2]);
    const inStep = async (session: AgentSession, epoch: number) =>
      store.save(session.withState(stateInStep(running.state)), { base: session, epoch });
    assert.deepEqual(await attempts(context, 2, inStep), [3, 4]);
  }),
  storeCase(
    'a closed step resets the attempts, and the present claim counts as the first',
    async (context) => {
      const { store, created } = context;
      const base = await created('a', { state: stateInStep((await created('other')).state) });
      assert.equal(base.state.stepExecutions.length, 0);
      assert.deepEqual(await attempts(context, 2), [1, 2]);
      const finish = async (session: AgentSession, epoch: number) =>
        store.save(session.withState(session.state.withCurrentStepCompleted(START)), {
          base: session,
          epoch,
        });
      assert.deepEqual(await attempts(context, 1, finish), [3]);
      assert.deepEqual(await attempts(context, 2), [2, 3]);
    },
  ),
  storeCase(
    'the end of an execution resets the attempts, and the present claim counts as the first',
    async (context) => {
      const { store, created } = context;
      const base = await created('a');
      await store.save(base.withState(stateInStep(base.state)), { base });
      assert.deepEqual(await attempts(context, 2), [1, 2]);
      const end = async (session: AgentSession, epoch: number) =>
        store.save(session.withState(session.state.withFailure(new Error('No.'), START)), { epoch });
      assert.deepEqual(await attempts(context, 1, end), [3]);
      assert.deepEqual(await attempts(context, 1), [2]);
      const loaded = await store.load('a');
      assert(loaded);
      assert.deepEqual(
        await store.save(loaded.withState(stateAfterSteps(base.state)), { base: loaded }),
        await store.load('a'),
      );
    },
  ),
];
