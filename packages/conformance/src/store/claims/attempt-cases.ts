import assert from 'node:assert/strict';
import type { AgentSession } from '@holdfast/core';
import { stateAfterSteps, stateInStep } from '../case/execution-states.ts';
import { START, storeCase, withFact, type CaseContext, type UngroupedCase } from '../case/store-case.ts';

const ADA = { workerId: 'Ada', leaseSeconds: 60 };

/**
 * Claims a session for the next worker, and lets the claim expire. Each worker works on no other session, unless
 * `ifSuspect` says otherwise.
 */
async function attempts(
  { store, clock }: CaseContext,
  count: number,
  work?: (session: AgentSession, epoch: number) => Promise<unknown>,
  ifSuspect: 'accept' | 'alone' = 'alone',
): Promise<number[]> {
  const seen: number[] = [];
  for (let index = 0; index < count; index++) {
    const workerId = `worker at ${clock.time}`;
    const { session, claim, attempt } = await store.claim('a', { workerId, leaseSeconds: 60, ifSuspect });
    seen.push(attempt);
    await work?.(session, claim.epoch);
    clock.time += 60_000;
  }
  return seen;
}

/** Counting attempts at a session. */
export const attemptCases: readonly UngroupedCase[] = [
  storeCase('claims that expire while their worker was alone are counted as attempts', async (context) => {
    await context.created('a');
    // No worker is alone with a session that is not suspect: the first death only makes it suspect.
    assert.deepEqual(await attempts(context, 4), [1, 1, 2, 3]);
    const last = await context.store.claim('a', ADA);
    assert.deepEqual([last.claim.epoch, last.attempt, last.claim.isAlone], [5, 4, undefined]);
    assert.equal(await context.store.release(last.claim), true);
    assert.deepEqual(await attempts(context, 2), [1, 1]);
  }),
  storeCase('claims that expire while their worker had other sessions are not counted', async (context) => {
    const { store, clock, created } = context;
    await created('a');
    assert.deepEqual(await attempts(context, 3, undefined, 'accept'), [1, 1, 1]);
    assert.deepEqual(await attempts(context, 2), [1, 2]);
    const { claim } = await store.claim('a', { ...ADA, ifSuspect: 'alone' });
    assert.equal(claim.isAlone, true);
    const shared = await store.renew(claim, { leaseSeconds: 60, isShared: true });
    assert.equal(shared.claim.isAlone, undefined);
    const renewed = await store.renew(shared.claim, { leaseSeconds: 60 });
    assert.equal(renewed.claim.isAlone, undefined);
    clock.time += 60_000;
    assert.deepEqual(await attempts(context, 1), [3]);
  }),
  storeCase('a claim that renews itself stays alone', async (context) => {
    const { store, clock, created } = context;
    await created('a');
    await attempts(context, 1);
    const alone = { ...ADA, ifSuspect: 'alone' } as const;
    await store.claim('a', alone);
    const again = await store.claim('a', alone);
    assert.deepEqual([again.claim.isAlone, again.attempt], [true, 1]);
    const { claim } = await store.renew(again.claim, { leaseSeconds: 60 });
    assert.equal(claim.isAlone, true);
    clock.time += 60_000;
    assert.deepEqual(await attempts(context, 1), [2]);
  }),
  storeCase(
    'a worker that refuses suspects gets only sessions whose last worker released them',
    async (context) => {
      const { store, created } = context;
      await created('a');
      const refusing = { ...ADA, ifSuspect: 'refuse' } as const;
      const first = await store.claim('a', refusing);
      await store.release(first.claim);
      await attempts(context, 1);
      await assert.rejects(store.claim('a', refusing), { code: 'SESSION_SUSPECT' });
      const alone = await store.claim('a', { ...ADA, ifSuspect: 'alone' });
      assert.deepEqual([alone.claim.epoch, alone.attempt], [3, 1]);
      await store.release(alone.claim);
      assert.equal((await store.claim('a', refusing)).attempt, 1);
    },
  ),
  storeCase('a session whose worker stood still is suspect after its release', async ({ store, created }) => {
    await created('a');
    const refusing = { ...ADA, ifSuspect: 'refuse' } as const;
    const alone = { ...ADA, ifSuspect: 'alone' } as const;
    const renewed = await store.claim('a', refusing);
    await store.renew(renewed.claim, { leaseSeconds: 60, isSuspect: true });
    assert.equal(await store.release(renewed.claim), true);
    await assert.rejects(store.claim('a', refusing), { code: 'SESSION_SUSPECT' });
    const first = await store.claim('a', alone);
    assert.deepEqual([first.claim.isAlone, first.attempt], [true, 1]);
    assert.equal(await store.release(first.claim, { isSuspect: true }), true);
    await assert.rejects(store.claim('a', refusing), { code: 'SESSION_SUSPECT' });
    const second = await store.claim('a', alone);
    assert.deepEqual([second.claim.isAlone, second.attempt], [true, 2]);
    assert.equal(await store.release(second.claim), true);
    assert.equal((await store.claim('a', refusing)).attempt, 1);
  }),
  storeCase('a save that closes no step does not reset the attempts', async (context) => {
    const { store, created } = context;
    const base = await created('a');
    const running = base.withState(base.state.withExecutionStatus('inProgress', START));
    await store.save(running, { base });
    const facts = async (session: AgentSession, epoch: number) =>
      store.save(withFact(session, 'epoch', epoch), { base: session, epoch });
    assert.deepEqual(await attempts(context, 2, facts), [1, 1]);
    const inStep = async (session: AgentSession, epoch: number) =>
      store.save(session.withState(stateInStep(running.state)), { base: session, epoch });
    assert.deepEqual(await attempts(context, 2, inStep), [2, 3]);
  }),
  storeCase(
    'a closed step resets the attempts, and the present claim counts as the first',
    async (context) => {
      const { store, created } = context;
      const base = await created('a', { state: stateInStep((await created('other')).state) });
      assert.equal(base.state.stepExecutions.length, 0);
      assert.deepEqual(await attempts(context, 2), [1, 1]);
      const finish = async (session: AgentSession, epoch: number) =>
        store.save(session.withState(session.state.withCurrentStepCompleted(START)), {
          base: session,
          epoch,
        });
      assert.deepEqual(await attempts(context, 1, finish), [2]);
      assert.deepEqual(await attempts(context, 2), [2, 3]);
    },
  ),
  storeCase(
    'the end of an execution resets the attempts, and the present claim counts as the first',
    async (context) => {
      const { store, created } = context;
      const base = await created('a');
      await store.save(base.withState(stateInStep(base.state)), { base });
      assert.deepEqual(await attempts(context, 2), [1, 1]);
      const end = async (session: AgentSession, epoch: number) =>
        store.save(session.withState(session.state.withFailure(new Error('No.'), START)), { epoch });
      assert.deepEqual(await attempts(context, 1, end), [2]);
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
