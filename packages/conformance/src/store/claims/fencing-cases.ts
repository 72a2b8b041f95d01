import assert from 'node:assert/strict';
import type { AgentSession, SessionStore } from '@holdfast/core';
import type { ClaimedSession } from '@holdfast/core/store';
import { onlyWinner, refusedAs } from '../case/races.ts';
import { storeCase, withFact, type CaseContext, type UngroupedCase } from '../case/store-case.ts';

const LEASE = { leaseSeconds: 60 };
const claimBy = (store: SessionStore, workerId: string): Promise<ClaimedSession> =>
  store.claim('a', { workerId, ...LEASE });

/** A session that Ada has claimed, and Ben after her lease had expired. */
async function takenOver({ store, clock, created }: CaseContext) {
  await created('a');
  const ada = await claimBy(store, 'Ada');
  clock.time += 60_000;
  return { ada, ben: await claimBy(store, 'Ben') };
}

const saves = [
  storeCase(
    'the worker that holds the claim saves with its epoch, several times',
    async ({ store, created }) => {
      await created('a');
      const { session, claim } = await claimBy(store, 'Ada');
      let base: AgentSession = session;
      for (let count = 1; count <= 3; count++) {
        base = await store.save(withFact(base, 'n', count), { base, epoch: claim.epoch });
      }
      assert.equal(base.version, 4);
      assert.deepEqual(await store.load('a'), base);
      await assert.rejects(claimBy(store, 'Ben'), { code: 'SESSION_BUSY', workerId: 'Ada' });
      assert.deepEqual((await store.renew(claim, LEASE)).claim, claim);
    },
  ),
  storeCase(
    'a save without an epoch is refused while a session is claimed',
    async ({ store, clock, created }) => {
      const base = await created('a');
      const { claim } = await claimBy(store, 'Ada');
      const changed = withFact(base, 'by', 'Ben');
      for (const options of [{}, { base }, { base, operationId: 'op' }]) {
        await assert.rejects(store.save(changed, options), {
          code: 'SESSION_BUSY',
          sessionId: 'a',
          workerId: 'Ada',
          until: claim.until,
        });
      }
      assert.deepEqual(await store.load('a'), base);
      clock.time += 60_000;
      assert.deepEqual(await store.save(changed, { base }), await store.load('a'));
    },
  ),
  storeCase('a save without an epoch succeeds after a release', async ({ store, created }) => {
    const base = await created('a');
    const { claim } = await claimBy(store, 'Ada');
    await store.release(claim);
    assert.equal((await store.save(withFact(base, 'n', 1), { base })).version, 2);
  }),
  storeCase(
    'an expired claim still saves while no other worker has claimed the session',
    async ({ store, clock, created }) => {
      await created('a');
      const { session, claim } = await claimBy(store, 'Ada');
      clock.time += 600_000;
      const saved = await store.save(withFact(session, 'n', 1), { base: session, epoch: claim.epoch });
      assert.deepEqual(await store.load('a'), saved);
    },
  ),
  storeCase('the save of a fenced worker is refused', async (context) => {
    const { store } = context;
    const { ada, ben } = await takenOver(context);
    const late = withFact(ada.session, 'by', 'Ada');
    const fenced = { code: 'SESSION_CONFLICT', kind: 'fenced', sessionId: 'a', expected: 1, actual: 2 };
    for (const options of [{ epoch: 1 }, { epoch: 1, base: ada.session }, { epoch: 1, operationId: 'op' }])
      await assert.rejects(store.save(late, options), fenced);
    assert.deepEqual(await store.load('a'), ben.session);
    const saved = await store.save(withFact(ben.session, 'by', 'Ben'), { base: ben.session, epoch: 2 });
    await assert.rejects(store.save(late, { base: ada.session, epoch: 1 }), fenced);
    assert.deepEqual(await store.load('a'), saved);
  }),
  storeCase('a fenced worker stays fenced after the next worker has released', async (context) => {
    const { store } = context;
    const { ada, ben } = await takenOver(context);
    await store.release(ben.claim);
    await assert.rejects(store.save(ada.session, { base: ada.session, epoch: 1 }), { kind: 'fenced' });
    await assert.rejects(store.renew(ada.claim, LEASE), { kind: 'fenced' });
  }),
  storeCase('an unknown epoch is refused', async ({ store, created }) => {
    const base = await created('a');
    await assert.rejects(store.save(base, { base, epoch: 1 }), { kind: 'fenced', expected: 1, actual: 0 });
    await claimBy(store, 'Ada');
    for (const epoch of [0, 2]) await assert.rejects(store.save(base, { base, epoch }), { kind: 'fenced' });
    assert.deepEqual(await store.load('a'), base);
  }),
  storeCase(
    'of several saves with one epoch and version, exactly one succeeds',
    async ({ store, created }) => {
      await created('a');
      const { session, claim } = await claimBy(store, 'Ada');
      const saves = Array.from({ length: 10 }, (_, index) =>
        store.save(withFact(session, 'by', index), { base: session, epoch: claim.epoch }),
      );
      const winner = await onlyWinner(saves, refusedAs('stale'));
      assert.deepEqual(await store.load('a'), winner);
    },
  ),
];

const claims = [
  storeCase('a session whose claim has expired can be claimed by another worker', async (context) => {
    const { store } = context;
    const { ada, ben } = await takenOver(context);
    assert.deepEqual([ada.claim.epoch, ada.attempt], [1, 1]);
    assert.deepEqual([ben.claim.epoch, ben.attempt], [2, 1]);
    assert.deepEqual(ben.session, ada.session);
    await assert.rejects(claimBy(store, 'Ada'), { code: 'SESSION_BUSY', workerId: 'Ben' });
  }),
  storeCase('a fenced worker can neither renew nor release', async (context) => {
    const { store } = context;
    const { ada, ben } = await takenOver(context);
    await assert.rejects(store.renew(ada.claim, LEASE), {
      code: 'SESSION_CONFLICT',
      kind: 'fenced',
      expected: 1,
      actual: 2,
    });
    assert.equal(await store.release(ada.claim), false);
    assert.deepEqual((await store.renew(ben.claim, LEASE)).claim, ben.claim);
  }),
  storeCase('a claim of an earlier incarnation is not valid', async ({ store, created }) => {
    await created('a');
    const old = await claimBy(store, 'Ada');
    await store.delete('a');
    const anew = await created('a');
    const recreated = { code: 'SESSION_CONFLICT', kind: 'recreated' };
    await assert.rejects(store.renew(old.claim, LEASE), recreated);
    await assert.rejects(store.save(old.session, { base: old.session, epoch: 1 }), recreated);
    assert.equal(await store.release(old.claim), false);
    const next = await claimBy(store, 'Ada');
    assert.deepEqual([next.claim.epoch, next.attempt], [1, 1]);
    assert.deepEqual(next.session, anew);
    await assert.rejects(store.renew(old.claim, LEASE), recreated);
    await assert.rejects(store.save(old.session, { base: old.session, epoch: 1 }), recreated);
    assert.equal(await store.release(old.claim), false);
    assert.deepEqual((await store.renew(next.claim, LEASE)).claim, next.claim);
  }),
  storeCase('a claimed session can be deleted', async ({ store, created }) => {
    await created('a');
    const { session, claim } = await claimBy(store, 'Ada');
    assert.equal(await store.delete('a'), true);
    const gone = { code: 'SESSION_NOT_FOUND' };
    await assert.rejects(store.save(session, { base: session, epoch: claim.epoch }), gone);
    assert.equal(await store.load('a'), undefined);
  }),
];

/** Fencing: a worker whose claim is no longer valid changes nothing. */
export const fencingCases: readonly UngroupedCase[] = [...saves, ...claims];
