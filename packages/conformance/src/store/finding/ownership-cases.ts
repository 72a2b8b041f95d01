import assert from 'node:assert/strict';
import { AgentSession, type SessionStore } from '@holdfast/core';
import type { SessionClaim } from '@holdfast/core/store';
import { newSession, storeCase, withFact, type CaseContext, type UngroupedCase } from '../case/store-case.ts';

const LEASE = { leaseSeconds: 60 };
const BY_ADA = { workerId: 'worker of Ada', ...LEASE };
const MISSING = { code: 'SESSION_NOT_FOUND', sessionId: 'a' };
const FAILED = { error: { name: 'Error', message: 'No.' }, delaysSeconds: [5] };
/** Owners that differ from `Ada` in what a careless comparison ignores. */
const OTHERS = ['Bo', 'ada', 'Ada\0', 'Ad', 'Ada ', undefined];

/** Returns a copy of a document that names another owner or parent. */
function forged(
  session: AgentSession,
  facts: { readonly owner?: string | undefined; readonly parentId?: string },
): AgentSession {
  const document: unknown = JSON.parse(JSON.stringify({ ...session.toJSON(), ...facts, version: 2 }));
  return AgentSession.fromJSON(document);
}

/** All that a store shows of a session. */
async function shownBy(store: SessionStore): Promise<unknown> {
  const listed = await store.list({ owner: 'Ada' });
  return { session: await store.load('a'), inspected: await store.inspect('a'), listed };
}

/** The session of Ada, which her worker has claimed, with an inbox item and a save. */
async function ofAda({ store, created }: CaseContext) {
  const first = await created('a', { owner: 'Ada', parentId: 'p' });
  const base = await store.save(withFact(first, 'n', 1), { base: first, operationId: 'op' });
  await store.enqueue('a', { id: 'i', content: 1 });
  const { claim, inbox } = await store.claim('a', BY_ADA);
  return { base, claim, inbox, before: await shownBy(store) };
}

const saves = [
  storeCase('a save never changes the owner of a session', async (context) => {
    const { store } = context;
    const { base, claim, inbox, before } = await ofAda(context);
    const { epoch } = claim;
    for (const owner of OTHERS) {
      const taken = withFact(forged(base, { owner }), 'by', 'Bo');
      for (const options of [
        {},
        { epoch },
        { base, epoch, acknowledge: inbox },
        { epoch, operationId: 'op' },
      ])
        for (const scope of [{}, { owner: 'Ada' }, owner === undefined ? {} : { owner }])
          await assert.rejects(store.save(taken, { ...options, ...scope }), MISSING);
    }
    assert.deepEqual(await shownBy(store), before);
    assert.equal((await store.save(withFact(base, 'n', 2), { base, epoch, owner: 'Ada' })).owner, 'Ada');
  }),
  storeCase('a save for an owner finds no session of another owner', async (context) => {
    const { store, session } = context;
    const { base, claim, before } = await ofAda(context);
    const { epoch } = claim;
    for (const owner of OTHERS.filter((other) => other !== undefined))
      for (const options of [{}, { epoch }, { base, epoch }])
        await assert.rejects(store.save(withFact(base, 'n', 2), { ...options, owner }), MISSING);
    await assert.rejects(store.save(session('none', { owner: 'Bo' }), { owner: 'Bo' }), {
      code: 'SESSION_NOT_FOUND',
    });
    assert.deepEqual(await shownBy(store), before);
  }),
  storeCase('a repeated save of another owner returns nothing of a session', async ({ store, created }) => {
    const first = await created('a', { owner: 'Ada' });
    const changed = withFact(first, 'n', 1);
    const saved = await store.save(changed, { base: first, operationId: 'op' });
    const repeated = store.save(changed, { base: first, operationId: 'op', owner: 'Bo' });
    await assert.rejects(repeated, MISSING);
    assert.deepEqual(await store.save(changed, { base: first, operationId: 'op', owner: 'Ada' }), saved);
  }),
  storeCase('a save never changes the parent of a session', async (context) => {
    const { store } = context;
    const { base, claim, before } = await ofAda(context);
    const moved = forged(base, { parentId: 'q' });
    for (const options of [{}, { base }])
      await assert.rejects(store.save(moved, { ...options, epoch: claim.epoch }), {
        code: 'ARGUMENT_INVALID',
      });
    assert.deepEqual(await shownBy(store), before);
  }),
];

const isRefused = async (renewal: Promise<unknown>): Promise<void> => assert.rejects(renewal, MISSING);

const claims = [
  storeCase('a claim names the owner of its session', async (context) => {
    const { store, created } = context;
    const { claim } = await ofAda(context);
    assert.equal(claim.owner, 'Ada');
    assert.equal((await store.renew(claim, LEASE)).claim.owner, 'Ada');
    assert.equal((await store.inspect('a')).claim?.owner, 'Ada');
    await created('n');
    assert.equal((await store.claim('n', BY_ADA)).claim.owner, undefined);
  }),
  storeCase('renew and release refuse a claim that names another owner', async (context) => {
    const { store } = context;
    const { base, claim, before } = await ofAda(context);
    for (const owner of OTHERS) {
      const stolen: SessionClaim = { ...claim, owner };
      for (const options of [{}, { base }]) {
        await isRefused(store.renew(stolen, { ...LEASE, ...options }));
        assert.equal(await store.release(stolen, options), false);
      }
    }
    assert.deepEqual(await shownBy(store), before);
    assert.deepEqual((await store.renew(claim, LEASE)).claim, claim);
    assert.equal(await store.release(claim), true);
  }),
  storeCase('renew and release for an owner find no claim of another owner', async (context) => {
    const { store } = context;
    const { base, claim, before } = await ofAda(context);
    for (const owner of OTHERS.filter((other) => other !== undefined))
      for (const options of [{ owner }, { owner, base }]) {
        await isRefused(store.renew(claim, { ...LEASE, ...options }));
        assert.equal(await store.release(claim, options), false);
        await isRefused(store.renew({ ...claim, owner }, { ...LEASE, ...options }));
        assert.equal(await store.release({ ...claim, owner }, options), false);
      }
    assert.deepEqual(await shownBy(store), before);
    assert.deepEqual((await store.renew(claim, { ...LEASE, owner: 'Ada' })).claim, claim);
    assert.equal(await store.release(claim, { owner: 'Ada' }), true);
  }),
];

const others = [
  storeCase('recordFailure for an owner finds no session of another owner', async ({ store, created }) => {
    await created('a', { owner: 'Ada' });
    const before = await shownBy(store);
    assert.equal(await store.recordFailure('a', FAILED, { owner: 'Bo' }), undefined);
    assert.deepEqual(await shownBy(store), before);
    assert.equal((await store.recordFailure('a', FAILED, { owner: 'Ada' }))?.attempts, 1);
  }),
  storeCase('a creation under the id of another owner learns only that the id is taken', async (context) => {
    const { store, session } = context;
    const { before } = await ofAda(context);
    for (const owner of ['Bo', undefined])
      await assert.rejects(store.create(session('a', { owner })), {
        code: 'SESSION_CONFLICT',
        kind: 'exists',
        expected: 0,
        actual: 1,
      });
    assert.deepEqual(await shownBy(store), before);
  }),
  storeCase('a worker learns nothing of the owner who has created its session again', async (context) => {
    const { store } = context;
    const { base, claim } = await ofAda(context);
    await store.delete('a');
    const bos = await store.create(newSession('a', { owner: 'Bo' }));
    await store.claim('a', { workerId: 'worker of Bo', ...LEASE });
    const inspected = await store.inspect('a');
    for (const options of [{}, { base }]) {
      await isRefused(store.renew(claim, { ...LEASE, ...options }));
      assert.equal(await store.release(claim, options), false);
      await assert.rejects(store.save(withFact(base, 'n', 2), { ...options, epoch: claim.epoch }), MISSING);
    }
    assert.deepEqual([await store.load('a'), await store.inspect('a')], [bos, inspected]);
  }),
];

/** An owner never changes, and a write of another owner finds no session. */
export const ownershipCases: readonly UngroupedCase[] = [...saves, ...claims, ...others];
