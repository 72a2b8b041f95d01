import assert from 'node:assert/strict';
import type { AgentSession } from '@holdfast/core';
import { storeCase, withFact } from './store-case.ts';
import type { CaseContext, UngroupedCase } from './store-case.ts';

const [ADA, BEN] = [
  { workerId: 'Ada', leaseSeconds: 60 },
  { workerId: 'Ben', leaseSeconds: 60 },
];

/** What a store answers somebody who claims and somebody who loads, each with a base. */
async function readings({ store }: CaseContext, base: AgentSession): Promise<readonly AgentSession[]> {
  const loaded = await store.load('a', { base });
  const { session, claim } = await store.claim('a', { ...BEN, base });
  await store.release(claim);
  assert(loaded);
  return [loaded, session];
}

const known = [
  storeCase('a base that is still there is answered, and can be saved from', async (context) => {
    const base = await context.created('a');
    for (const session of await readings(context, base)) {
      assert.deepEqual(session.toJSON(), base.toJSON());
    }
    const { session, claim } = await context.store.claim('a', { ...ADA, base });
    const saved = await context.store.save(withFact(session, 'n', 1), { base: session, epoch: claim.epoch });
    assert.deepEqual((await context.store.load('a'))?.toJSON(), saved.toJSON());
  }),
  storeCase('a base that was saved over is read again', async (context) => {
    const base = await context.created('a');
    const saved = await context.store.save(withFact(base, 'n', 1), { base });
    for (const session of await readings(context, base)) {
      assert.deepEqual(session.toJSON(), saved.toJSON());
    }
  }),
  storeCase('a base of a session that was created anew is read again', async (context) => {
    const base = await context.created('a');
    await context.store.delete('a');
    const anew = await context.created('a', { definition: { name: 'another' } });
    for (const session of await readings(context, base)) {
      assert.deepEqual(session.toJSON(), anew.toJSON());
    }
  }),
  storeCase('the base of another session is none', async (context) => {
    const other = await context.created('b', { definition: { name: 'another' } });
    const base = await context.created('a');
    for (const session of await readings(context, other)) {
      assert.deepEqual(session.toJSON(), base.toJSON());
    }
  }),
  storeCase('a base is no right to a session that is claimed or gone', async ({ store, created }) => {
    const base = await created('a');
    await store.claim('a', ADA);
    await assert.rejects(store.claim('a', { ...BEN, base }), { code: 'SESSION_BUSY' });
    await store.delete('a');
    await assert.rejects(store.claim('a', { ...BEN, base }), { code: 'SESSION_NOT_FOUND' });
    assert.equal(await store.load('a', { base }), undefined);
  }),
];

/** A store that was set back and written to again: at the version and number of writes that somebody knows. */
async function setBack(context: CaseContext): Promise<{ known: AgentSession; actual: AgentSession }> {
  const { store, abilities, created } = context;
  const first = await created('a');
  assert(abilities.remember, 'The harness cannot set back.');
  const goBack = await abilities.remember();
  const lost = await store.save(withFact(first, 'n', 'lost'), { base: first });
  await goBack();
  const reloaded = await store.load('a');
  assert(reloaded);
  const actual = await store.save(withFact(reloaded, 'n', 'kept'), { base: reloaded });
  assert.deepEqual(lost.revision, actual.revision);
  return { known: lost, actual };
}

const behind = [
  storeCase(
    'a base from before the store was set back is read again',
    async (context) => {
      const { known: base, actual } = await setBack(context);
      for (const session of await readings(context, base)) {
        assert.deepEqual(session.toJSON(), actual.toJSON());
      }
    },
    { needs: 'remember' },
  ),
  storeCase(
    'a save from before the store was set back is refused',
    async (context) => {
      const { store } = context;
      const { known: base, actual } = await setBack(context);
      const save = store.save(withFact(base, 'm', 1), { base, operationId: 'op' });
      await assert.rejects(save, { code: 'SESSION_CONFLICT', kind: 'store-behind' });
      assert.deepEqual((await store.load('a'))?.toJSON(), actual.toJSON());
    },
    { needs: 'remember' },
  ),
];

/** Bases: what somebody knows of a session need not be read again, and is never taken for what it is not. */
export const baseCases: readonly UngroupedCase[] = [...known, ...behind];
