import assert from 'node:assert/strict';
import type { AgentSession, SessionStore } from '@holdfast/core';
import { failureAt } from '../../run/failures.ts';
import { stateAfterSteps, stateInStep } from '../case/execution-states.ts';
import { onlyWinner } from '../case/races.ts';
import {
  storeCase,
  withFact,
  type CaseContext,
  type UngroupedCase,
  type TestedStore,
} from '../case/store-case.ts';

const ADA = { workerId: 'Ada', leaseSeconds: 60 };
const BEN = { workerId: 'Ben', leaseSeconds: 60 };

interface ReopenContext extends CaseContext {
  /** A second store on the storage of the first. */
  readonly other: TestedStore;
  /** Asserts that the first, the second or each store loads this session. */
  readonly assertLoaded: (by: 'store' | 'other' | 'both', expected: AgentSession) => Promise<void>;
}

/** A case with two stores on one storage. Neither store knows of the other. */
function reopenCase(name: string, act: (context: ReopenContext) => Promise<void>): UngroupedCase {
  const run = async (context: CaseContext): Promise<void> => {
    const { reopen } = context.abilities;
    assert(reopen, 'The harness lacks the ability "reopen".');
    const { store: other } = await reopen(context.clock);
    const readers = { store: [context.store], other: [other], both: [context.store, other] };
    await act({
      ...context,
      other,
      async assertLoaded(by, expected) {
        for (const reader of readers[by]) await assertLoads(reader, reader === other, expected);
      },
    });
  };
  return storeCase(name, run, { needs: ['reopen'] });
}

async function assertLoads(store: SessionStore, isSecond: boolean, expected: AgentSession): Promise<void> {
  try {
    assert.deepEqual(await store.load(expected.sessionId), expected);
  } catch (error) {
    throw failureAt(`load by the ${isSecond ? 'second' : 'first'} store`, error);
  }
}

/** Two processes on one storage. */
export const reopenCases: readonly UngroupedCase[] = [
  reopenCase(
    'a session of one store is loaded by the other',
    async ({ store, other, created, assertLoaded }) => {
      const base = await created('a', { parentId: 'p' });
      await assertLoaded('other', base);
      const saved = await store.save(base.withState(stateAfterSteps(base.state)), { base });
      const loaded = await other.load('a');
      assert.deepEqual(loaded, saved);
      assert.deepEqual(await other.list(), await store.list());
      const next = await other.save(withFact(loaded ?? saved, 'n', 1), { base: loaded });
      await assertLoaded('store', next);
      assert.equal(await other.delete('a'), true);
      assert.equal(await store.exists('a'), false);
    },
  ),
  reopenCase('a base of one store is valid in the other', async ({ store, other, created, assertLoaded }) => {
    const base = await created('a');
    const running = await other.save(base.withState(stateInStep(base.state)), { base });
    const over = await store.save(running.withState(stateAfterSteps(base.state)), { base: running });
    await assertLoaded('other', over);
  }),
  reopenCase('a store detects that the other has saved', async ({ store, other, created, assertLoaded }) => {
    const base = await created('a');
    const seen = await other.load('a');
    assert(seen);
    const saved = await store.save(withFact(base, 'by', 'Ada'), { base });
    const late = other.save(withFact(seen, 'by', 'Ben'), { base: seen });
    await assert.rejects(late, { code: 'SESSION_CONFLICT', kind: 'stale' });
    await assertLoaded('other', saved);
  }),
  reopenCase(
    'of 30 writers in two processes that save one version, exactly one succeeds',
    async (context) => {
      const { store, other, created, assertLoaded } = context;
      const base = await created('a');
      const saves = Array.from({ length: 30 }, (_, index) =>
        (index % 2 ? store : other).save(withFact(base, 'by', index), { base }),
      );
      const winner = await onlyWinner(saves);
      await assertLoaded('both', winner);
    },
  ),
  reopenCase(
    'of 30 writers in two processes that create one id, exactly one succeeds',
    async ({ store, other, session, assertLoaded }) => {
      const creations = Array.from({ length: 30 }, (_, index) =>
        (index % 2 ? store : other).create(withFact(session('a'), 'by', index)),
      );
      const winner = await onlyWinner(creations);
      await assertLoaded('other', winner);
    },
  ),
  reopenCase('another process can repeat a save', async ({ store, other, created }) => {
    const base = await created('a');
    const seen = await other.load('a');
    assert(seen);
    const saved = await store.save(withFact(base, 'n', 1), { base, operationId: 'op-1' });
    const repeated = await other.save(withFact(seen, 'n', 1), { base: seen, operationId: 'op-1' });
    assert.deepEqual(repeated, saved);
    const reused = other.save(withFact(seen, 'n', 2), { base: seen, operationId: 'op-1' });
    await assert.rejects(reused, { code: 'OPERATION_REUSED' });
  }),
  reopenCase('a claim is valid in every process', async ({ store, other, clock, created }) => {
    const base = await created('a');
    const seen = await other.load('a');
    assert(seen);
    const ada = await store.claim('a', ADA);
    const busy = { code: 'SESSION_BUSY', workerId: 'Ada' };
    await assert.rejects(other.claim('a', BEN), busy);
    await assert.rejects(other.save(withFact(seen, 'n', 1), { base: seen }), busy);
    assert.equal(await other.enqueue('a', { id: 'i', content: 1 }), true);
    assert.equal((await store.renew(ada.claim, ADA)).inbox.length, 1);
    clock.time += 60_000;
    const ben = await other.claim('a', BEN);
    assert.deepEqual([ben.claim.epoch, ben.attempt, ben.inbox.length], [2, 1, 1]);
    const late = store.save(withFact(base, 'n', 1), { base: ada.session, epoch: 1 });
    await assert.rejects(late, { kind: 'fenced' });
    await assert.rejects(store.renew(ada.claim, ADA), { kind: 'fenced' });
    assert.equal(await store.release(ada.claim), false);
  }),
  reopenCase('one store stays open when the other is closed', async ({ store, other, created }) => {
    const base = await created('a');
    await other.close();
    assert.equal((await store.save(base, { base })).version, 2);
  }),
];
