import assert from 'node:assert/strict';
import type { AgentSession, SessionExpiry } from '@holdfast/core';
import { stateInStep } from '../case/execution-states.ts';
import { onlyWinner } from '../case/races.ts';
import {
  emptyState,
  START,
  storeCase,
  withFact,
  type CaseContext,
  type UngroupedCase,
} from '../case/store-case.ts';

const MINUTE: SessionExpiry = { afterSeconds: 60 };
const ADA = { workerId: 'Ada', leaseSeconds: 600 };

function keep({ store, session }: CaseContext, expiry?: SessionExpiry, id = 'a'): Promise<AgentSession> {
  return store.create(session(id, { state: stateInStep(emptyState()) }), { expiry });
}

/** Asserts that a session exists until an instant, and not from then on. */
async function assertEnds({ store, clock }: CaseContext, end: number, id = 'a'): Promise<void> {
  clock.time = end - 1;
  assert.equal(await store.exists(id), true, 'The session expired too early.');
  clock.time = end;
  assert.equal(await store.exists(id), false, 'The session expired too late.');
}

const moments = [
  storeCase('a session expires at the instant that was set', async (context) => {
    const { store, clock } = context;
    const session = await keep(context, { at: START + 60_000 });
    clock.time += 30_000;
    await store.save(session);
    await store.enqueue('a', { id: 'i', content: 1 });
    await assertEnds(context, START + 60_000);
  }),
  storeCase('a session expires the set time after its last write', async (context) => {
    const { store, clock } = context;
    const session = await keep(context, MINUTE);
    clock.time += 50_000;
    await store.save(session);
    await assertEnds(context, START + 110_000);
  }),
  storeCase('every write extends a sliding expiry, and reads do not', async (context) => {
    const { store, clock } = context;
    await keep(context, MINUTE);
    const later = () => (clock.time += 50_000);
    later();
    const { claim } = await store.claim('a', ADA);
    later();
    await store.renew(claim, ADA);
    later();
    await store.enqueue('a', { id: 'i', content: 1 });
    later();
    await store.release(claim);
    const last = clock.time;
    later();
    await store.load('a');
    await store.list();
    await store.due();
    await assertEnds(context, last + 60_000);
  }),
  storeCase('an expiry can be a fraction of a second', async (context) => {
    await keep(context, { afterSeconds: 0.5 });
    await assertEnds(context, START + 500);
  }),
  storeCase('a session without an expiry stays', async (context) => {
    await keep(context);
    context.clock.time += 1e12;
    assert.equal(await context.store.exists('a'), true);
    assert.equal(await context.store.prune(), 0);
  }),
  storeCase(
    'the expiry of the store is the default',
    async (context) => {
      await keep(context);
      await keep(context, { at: START + 90_000 }, 'b');
      await assertEnds(context, START + 60_000);
      await assertEnds(context, START + 90_000, 'b');
    },
    { expiry: MINUTE },
  ),
];

const changes = [
  storeCase('a save sets, changes and removes the expiry', async (context) => {
    const { store, clock } = context;
    const first = await keep(context);
    const second = await store.save(first, { base: first, expiry: MINUTE });
    clock.time += 59_999;
    const third = await store.save(second, { base: second, expiry: { at: START + 70_000 } });
    clock.time += 1;
    assert.equal(await store.exists('a'), true);
    const fourth = await store.save(third, { base: third });
    await store.save(fourth, { base: fourth, expiry: null });
    clock.time += 1e12;
    assert.equal(await store.exists('a'), true);
  }),
  storeCase('a save without an expiry does not change the expiry', async (context) => {
    const { store, clock } = context;
    const first = await keep(context, { at: START + 60_000 });
    clock.time += 1_000;
    await store.save(withFact(first, 'n', 1), { base: first, expiry: undefined });
    await assertEnds(context, START + 60_000);
  }),
];

const hidden = [
  storeCase('an expired session is neither loaded nor listed nor due', async (context) => {
    const { store, clock } = context;
    const session = await keep(context, MINUTE);
    await keep(context, undefined, 'b');
    clock.time += 60_000;
    assert.equal(await store.load('a'), undefined);
    assert.equal(await store.exists('a'), false);
    for (const order of ['createdAt', 'lastActiveAt'] as const) {
      const { sessions } = await store.list({ order });
      assert.deepEqual(
        sessions.map(({ sessionId }) => sessionId),
        ['b'],
      );
    }
    assert.deepEqual(
      (await store.due()).sessions.map(({ sessionId }) => sessionId),
      ['b'],
    );
    assert.equal(await store.delete('a', { revision: session.revision }), false);
  }),
  storeCase('every operation on an expired session fails as for a missing one', async (context) => {
    const { store, clock } = context;
    const session = await keep(context, MINUTE);
    const { claim } = await store.claim('a', ADA);
    clock.time += 60_000;
    const absent = { code: 'SESSION_NOT_FOUND', sessionId: 'a' };
    await assert.rejects(store.save(session), absent);
    await assert.rejects(store.save(session, { base: session, epoch: claim.epoch, expiry: null }), absent);
    await assert.rejects(store.claim('a', ADA), absent);
    await assert.rejects(store.renew(claim, ADA), absent);
    await assert.rejects(store.enqueue('a', { id: 'i', content: 1 }), absent);
    assert.equal(await store.release(claim), false);
    assert.equal(await store.delete('a'), false);
    assert.equal(await store.exists('a'), false);
  }),
  storeCase('a save with its base does not restore an expired session', async (context) => {
    const { store, clock } = context;
    const base = await keep(context, MINUTE);
    clock.time += 60_000;
    await assert.rejects(store.save(withFact(base, 'n', 1), { base }), { code: 'SESSION_NOT_FOUND' });
    assert.equal(await store.load('a'), undefined);
  }),
  storeCase('expired sessions leave no gaps in pages', async (context) => {
    const { store, clock } = context;
    for (let index = 0; index < 12; index++) await keep(context, index % 3 ? MINUTE : undefined, `s${index}`);
    clock.time += 60_000;
    const first = await store.list({ limit: 2 });
    const second = await store.list({ limit: 2, cursor: first.cursor });
    assert.deepEqual(
      [first, second].map((page) => page.sessions.map(({ sessionId }) => sessionId)),
      [
        ['s0', 's3'],
        ['s6', 's9'],
      ],
    );
    assert.equal(second.cursor, undefined);
  }),
];

const afterwards = [
  storeCase('a session that is created after an expired one inherits nothing from it', async (context) => {
    const { store, clock, created } = context;
    const old = await keep(context, MINUTE);
    const { claim } = await store.claim('a', { workerId: 'Ada', leaseSeconds: 1_000 });
    await store.enqueue('a', { id: 'i', content: 'old' });
    clock.time += 60_000;
    const anew = await created('a');
    assert.notEqual(anew.revision.incarnation, old.revision.incarnation);
    assert.equal(anew.version, 1);
    assert.deepEqual(await store.load('a'), anew);
    assert.deepEqual((await store.list()).sessions, [{ ...anew.info, lastActiveAt: clock.time }]);
    assert.deepEqual((await store.due()).sessions, []);
    await assert.rejects(store.save(old, { base: old }), { kind: 'recreated' });
    await assert.rejects(store.renew(claim, ADA), { kind: 'recreated' });
    const next = await store.claim('a', { workerId: 'Ben', leaseSeconds: 60 });
    assert.deepEqual([next.claim.epoch, next.attempt, next.inbox], [1, 1, []]);
    assert.deepEqual(next.session, anew);
    clock.time += 1e12;
    assert.equal(await store.exists('a'), true);
  }),
  storeCase(
    'of 10 writers that create a session after an expired one, exactly one succeeds',
    async (context) => {
      const { store, clock, session } = context;
      await keep(context, MINUTE);
      clock.time += 60_000;
      const attempts = Array.from({ length: 10 }, (_, index) =>
        store.create(withFact(session('a'), 'by', index)),
      );
      const winner = await onlyWinner(attempts);
      assert.deepEqual(await store.load('a'), winner);
    },
  ),
  storeCase('prune removes expired sessions, and returns how many there were', async (context) => {
    const { store, clock } = context;
    for (let index = 0; index < 7; index++) await keep(context, MINUTE, `old ${index}`);
    await keep(context, { afterSeconds: 61 }, 'living');
    await keep(context, undefined, 'kept');
    assert.equal(await store.prune(), 0);
    clock.time += 60_000;
    assert.equal(await store.prune({ limit: 3 }), 3);
    assert.equal(await store.prune({ limit: 3 }), 3);
    assert.equal(await store.prune({ limit: 3 }), 1);
    assert.equal(await store.prune(), 0);
    const { sessions } = await store.list();
    assert.deepEqual(sessions.map(({ sessionId }) => sessionId).toSorted(), ['kept', 'living']);
    assert.equal((await store.load('kept'))?.state.currentStep?.toolExecutions.length, 1);
  }),
  storeCase('prune does not remove a session that was created after an expired one', async (context) => {
    const { store, clock, created } = context;
    await keep(context, MINUTE);
    clock.time += 60_000;
    const anew = await created('a');
    assert.equal(await store.prune(), 0);
    assert.deepEqual(await store.load('a'), anew);
  }),
];

/** The expiry of sessions. */
export const expiryCases: readonly UngroupedCase[] = [...moments, ...changes, ...hidden, ...afterwards];
