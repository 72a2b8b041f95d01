import assert from 'node:assert/strict';
import type { AgentSession } from '@holdfast/core';
import { storeCase, withFact, type CaseContext, type UngroupedCase } from '../case/store-case.ts';

const [ADA, BEN] = [
  { workerId: 'Ada', leaseSeconds: 60 },
  { workerId: 'Ben', leaseSeconds: 60 },
];

/** Returns the result of a claim and of a load with a base. */
async function readings({ store }: CaseContext, base: AgentSession): Promise<readonly AgentSession[]> {
  const loaded = await store.load('a', { base });
  const { session, claim } = await store.claim('a', { ...BEN, base });
  await store.release(claim);
  assert(loaded);
  return [loaded, session];
}

const known = [
  storeCase('a current base is returned, and can be saved from', async (context) => {
    const base = await context.created('a');
    for (const session of await readings(context, base)) {
      assert.deepEqual(session.toJSON(), base.toJSON());
    }
    const { session, claim } = await context.store.claim('a', { ...ADA, base });
    const saved = await context.store.save(withFact(session, 'n', 1), { base: session, epoch: claim.epoch });
    assert.deepEqual((await context.store.load('a'))?.toJSON(), saved.toJSON());
  }),
  storeCase('a base that is older than the stored session is read again', async (context) => {
    const base = await context.created('a');
    const saved = await context.store.save(withFact(base, 'n', 1), { base });
    for (const session of await readings(context, base)) {
      assert.deepEqual(session.toJSON(), saved.toJSON());
    }
  }),
  storeCase('a base of an earlier incarnation is read again', async (context) => {
    const base = await context.created('a');
    await context.store.delete('a');
    const anew = await context.created('a', { definition: { name: 'another' } });
    for (const session of await readings(context, base)) {
      assert.deepEqual(session.toJSON(), anew.toJSON());
    }
  }),
  storeCase('a base of another session is not returned', async (context) => {
    const other = await context.created('b', { definition: { name: 'another' } });
    const base = await context.created('a');
    for (const session of await readings(context, other)) {
      assert.deepEqual(session.toJSON(), base.toJSON());
    }
  }),
  storeCase('a base does not allow a claim of a busy or deleted session', async ({ store, created }) => {
    const base = await created('a');
    await store.claim('a', ADA);
    await assert.rejects(store.claim('a', { ...BEN, base }), { code: 'SESSION_BUSY' });
    await store.delete('a');
    await assert.rejects(store.claim('a', { ...BEN, base }), { code: 'SESSION_NOT_FOUND' });
    assert.equal(await store.load('a', { base }), undefined);
  }),
  storeCase('a renewal and a release with an outdated base see new items', async ({ store, created }) => {
    await created('a');
    const { claim, session: base } = await store.claim('a', ADA);
    await store.enqueue('a', { id: 'i', content: 1 });
    const renewed = await store.renew(claim, { leaseSeconds: 60, base });
    assert.deepEqual(
      renewed.inbox.map(({ id }) => id),
      ['i'],
    );
    await store.enqueue('a', { id: 'j', content: 2 });
    assert.equal(await store.release(renewed.claim, { onlyIfIdle: true, base }), false);
    await assert.rejects(store.claim('a', BEN), { code: 'SESSION_BUSY' });
    assert.equal(await store.release(renewed.claim, { base }), true);
    const { inbox, claim: next } = await store.claim('a', BEN);
    assert.deepEqual([inbox.map(({ id }) => id), next.epoch], [['i', 'j'], 2]);
  }),
  storeCase('a base does not allow a renewal or a release of a lost claim', async (context) => {
    const { store, clock, created } = context;
    await created('a');
    const { claim, session: base } = await store.claim('a', ADA);
    clock.time += 60_000;
    const { claim: next } = await store.claim('a', BEN);
    const renewal = store.renew(claim, { leaseSeconds: 60, base });
    await assert.rejects(renewal, { code: 'SESSION_CONFLICT', kind: 'fenced' });
    for (const onlyIfIdle of [true, false])
      assert.equal(await store.release(claim, { onlyIfIdle, base }), false);
    await assert.rejects(store.claim('a', ADA), { code: 'SESSION_BUSY', workerId: 'Ben' });
    assert.equal(await store.release(next, { base }), true);
  }),
  storeCase('a renewal and a release with the base of another session', async ({ store, created }) => {
    const base = await created('b');
    await created('a');
    const { claim } = await store.claim('a', ADA);
    const renewed = await store.renew(claim, { leaseSeconds: 60, base });
    assert.equal(renewed.claim.sessionId, 'a');
    assert.equal(await store.release(renewed.claim, { base }), true);
    assert.deepEqual((await store.load('b'))?.toJSON(), base.toJSON());
    assert.equal((await store.claim('b', BEN)).claim.epoch, 1);
  }),
];

/**
 * A store that was restored to an earlier state and then written to again. Its session has the version and the number
 * of writes that a base knows, but other content.
 */
async function setBack(context: CaseContext): Promise<{ known: AgentSession; actual: AgentSession }> {
  const { store, abilities, created } = context;
  const first = await created('a');
  assert(abilities.remember, 'The harness lacks the ability "remember".');
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
    'a base from before the storage was restored is read again',
    async (context) => {
      const { known: base, actual } = await setBack(context);
      for (const session of await readings(context, base)) {
        assert.deepEqual(session.toJSON(), actual.toJSON());
      }
    },
    { needs: ['remember'] },
  ),
  storeCase(
    'a save from before the storage was restored is refused',
    async (context) => {
      const { store } = context;
      const { known: base, actual } = await setBack(context);
      const save = store.save(withFact(base, 'm', 1), { base, operationId: 'op' });
      await assert.rejects(save, { code: 'SESSION_CONFLICT', kind: 'store-behind' });
      assert.deepEqual((await store.load('a'))?.toJSON(), actual.toJSON());
    },
    { needs: ['remember'] },
  ),
];

/**
 * Bases. A store need not read content that the caller has as a base, and must not accept a base with other content.
 */
export const baseCases: readonly UngroupedCase[] = [...known, ...behind];
