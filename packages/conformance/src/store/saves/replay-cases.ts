import assert from 'node:assert/strict';
import type { AgentSession } from '@holdfast/core';
import { storeCase, withFact, type UngroupedCase } from '../case/store-case.ts';

function withPrompt(session: AgentSession): AgentSession {
  return session.withState(session.state.withSystemPrompt('Be brief.', session.updatedAt));
}

/** Saves with an operation id: a repetition does not save again. */
export const replayCases: readonly UngroupedCase[] = [
  storeCase(
    'a save that is repeated with its operation id is done once',
    async ({ store, clock, created }) => {
      const base = await created('a');
      const changed = withFact(base, 'n', 1);
      const first = await store.save(changed, { base, operationId: 'op-1' });
      clock.time += 1_000;
      const repeated = await store.save(changed, { base, operationId: 'op-1' });
      assert.deepEqual(repeated, first);
      assert.deepEqual(await store.load('a'), first);
      assert.equal((await store.save(withFact(repeated, 'n', 2), { operationId: 'op-2' })).version, 3);
    },
  ),
  storeCase(
    'a save with another operation id, or without one, is not a repetition',
    async ({ store, created }) => {
      const base = await created('a');
      await store.save(withFact(base, 'n', 1), { operationId: 'op-1' });
      await assert.rejects(store.save(withFact(base, 'n', 2), { operationId: 'op-2' }), { kind: 'stale' });
      await assert.rejects(store.save(withFact(base, 'n', 2)), { kind: 'stale' });
      const second = await store.load('a');
      assert(second);
      await store.save(withFact(second, 'n', 3));
      await assert.rejects(store.save(withFact(second, 'n', 4)), { kind: 'stale' });
    },
  ),
  storeCase(
    'the repetition of a save is a conflict after another writer has saved',
    async ({ store, created }) => {
      const base = await created('a');
      const first = await store.save(withFact(base, 'n', 1), { operationId: 'op-1' });
      await store.save(withFact(first, 'n', 2), { operationId: 'op-2' });
      await assert.rejects(store.save(withFact(base, 'n', 1), { operationId: 'op-1' }), {
        kind: 'stale',
        actual: 3,
      });
      const again = await store.load('a');
      assert(again);
      await store.save(again, { operationId: 'op-1' });
      await assert.rejects(store.save(base, { operationId: 'op-1' }), { kind: 'stale', actual: 4 });
    },
  ),
  storeCase('the operation id of an earlier incarnation is a conflict', async ({ store, created }) => {
    const base = await created('a');
    await store.save(base, { operationId: 'op-1' });
    await store.delete('a');
    await store.save(await created('a'), { operationId: 'op-1' });
    await assert.rejects(store.save(base, { operationId: 'op-1' }), { kind: 'recreated' });
  }),
  storeCase('operation ids can be any text, and never collide', async ({ store, created }) => {
    for (const [index, operationId] of ['', '\ud800', 'a\0b', '🦊', '"\\'].entries()) {
      const base = await created(`session ${index}`);
      const saved = await store.save(base, { operationId });
      assert.deepEqual(await store.save(base, { operationId }), saved);
      for (const other of ['\ufffd', 'a', 'a\0c', '\ud83e', '"']) {
        await assert.rejects(store.save(base, { operationId: other }), { kind: 'stale' });
      }
    }
  }),
  storeCase('an operation id that is used for another save is refused', async ({ store, created }) => {
    const base = await created('a');
    const first = await store.save(withFact(base, 'n', 1), { base, operationId: 'op-1' });
    const reused = { code: 'OPERATION_REUSED' };
    await assert.rejects(store.save(withFact(base, 'n', 2), { base, operationId: 'op-1' }), reused);
    await assert.rejects(store.save(base.withStatus('suspended'), { base, operationId: 'op-1' }), reused);
    await assert.rejects(store.save(withPrompt(base), { base, operationId: 'op-1' }), reused);
    assert.deepEqual(await store.load('a'), first);
  }),
  storeCase('a save can be repeated after writes that saved no content', async (context) => {
    const { store, clock, created } = context;
    await created('a');
    const { session: base, claim } = await store.claim('a', { workerId: 'Ada', leaseSeconds: 60 });
    const changed = withFact(base, 'n', 1);
    const options = { base, operationId: 'op-1', epoch: claim.epoch };
    const first = await store.save(changed, options);
    await store.enqueue('a', { id: 'i', content: 1 });
    assert.deepEqual(await store.save(changed, options), first);
    clock.time += 60_000;
    const next = await store.claim('a', { workerId: 'Ben', leaseSeconds: 60 });
    assert.deepEqual(next.session, first);
    assert.deepEqual(await store.save(changed, options), first);
    const saved = await store.save(withFact(next.session, 'n', 2), { base: next.session, epoch: 2 });
    await assert.rejects(store.save(changed, options), { code: 'SESSION_CONFLICT', kind: 'fenced' });
    assert.deepEqual(await store.load('a'), saved);
  }),
  storeCase(
    'of 20 writers that repeat one save, all succeed, and it is done once',
    async ({ store, created }) => {
      const base = await created('a');
      const changed = withFact(base, 'n', 1);
      const attempts = Array.from({ length: 20 }, () => store.save(changed, { base, operationId: 'op-1' }));
      const saved = await Promise.all(attempts);
      for (const one of saved) assert.deepEqual(one, saved[0]);
      assert.equal(saved[0]?.version, 2);
      assert.deepEqual(await store.load('a'), saved[0]);
    },
  ),
  storeCase('a save without changes can be repeated', async ({ store, created }) => {
    const base = await created('a');
    const first = await store.save(base, { base, operationId: 'op-1' });
    assert.deepEqual(await store.save(base, { base, operationId: 'op-1' }), first);
    const second = await store.save(first, { base: first, operationId: 'op-2' });
    assert.equal(second.version, 3);
  }),
];
