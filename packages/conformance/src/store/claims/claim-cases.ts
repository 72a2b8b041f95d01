import assert from 'node:assert/strict';
import type { SessionBusyError } from '@holdfast/core';
import type { ClaimOptions } from '@holdfast/core/store';
import { onlyWinner } from '../case/races.ts';
import { START, storeCase, type UngroupedCase } from '../case/store-case.ts';

const ADA: ClaimOptions = { workerId: 'Ada', leaseSeconds: 60 };
const BEN: ClaimOptions = { workerId: 'Ben', leaseSeconds: 60 };

const asking = [
  storeCase('a claim returns the session, an epoch and the end of its lease', async ({ store, created }) => {
    const session = await created('a');
    const claimed = await store.claim('a', ADA);
    assert.deepEqual(claimed.session, session);
    assert.deepEqual(claimed.claim, {
      sessionId: 'a',
      incarnation: session.revision.incarnation,
      workerId: 'Ada',
      epoch: 1,
      until: START + 60_000,
    });
    assert.equal(claimed.attempt, 1);
    assert.deepEqual(claimed.inbox, []);
  }),
  storeCase('of 30 workers that claim a session, exactly one succeeds', async ({ store, created }) => {
    await created('a');
    const asked = Array.from({ length: 30 }, (_, index) =>
      store.claim('a', { workerId: `worker ${index}`, leaseSeconds: 60 }),
    );
    const { claim } = await onlyWinner(asked, (error, winner) => {
      const { code, workerId, until } = error as Partial<SessionBusyError>;
      const { workerId: winnerId, until: end } = winner.claim;
      assert.deepEqual({ code, workerId, until }, { code: 'SESSION_BUSY', workerId: winnerId, until: end });
    });
    assert.equal((await store.renew(claim, ADA)).claim.epoch, 1);
  }),
  storeCase(
    'a claimed session is busy, and the error has the worker id and the end of the lease',
    async ({ store, clock, created }) => {
      await created('a');
      await store.claim('a', ADA);
      clock.time += 59_999;
      const busy = { code: 'SESSION_BUSY', sessionId: 'a', workerId: 'Ada', until: START + 60_000 };
      await assert.rejects(store.claim('a', BEN), busy);
      assert.equal((await store.load('a'))?.version, 1);
    },
  ),
  storeCase('a worker that claims again gets the same claim, renewed', async ({ store, clock, created }) => {
    await created('a');
    const first = await store.claim('a', ADA);
    clock.time += 10_000;
    const again = await store.claim('a', ADA);
    assert.deepEqual(again.claim, { ...first.claim, until: START + 70_000 });
    assert.equal(again.attempt, 1);
    clock.time += 100_000;
    const late = await store.claim('a', ADA);
    assert.deepEqual(late.claim, { ...first.claim, until: START + 170_000 });
    assert.equal(late.attempt, 1);
    await assert.rejects(store.claim('a', BEN), { code: 'SESSION_BUSY' });
  }),
  storeCase('worker ids can be any text, and never collide', async ({ store, created }) => {
    const workerIds = [
      'a',
      'A',
      'a ',
      'a\0',
      'a\0b',
      '{}:*?\n/',
      '🦊',
      '\ufffd',
      '__proto__',
      'x'.repeat(1_000),
    ];
    for (const [index, workerId] of workerIds.entries()) {
      await created(`session ${index}`);
      const { claim } = await store.claim(`session ${index}`, { workerId, leaseSeconds: 60 });
      assert.equal(claim.workerId, workerId);
      for (const other of workerIds.filter((name) => name !== workerId)) {
        const asked = store.claim(`session ${index}`, { workerId: other, leaseSeconds: 60 });
        await assert.rejects(asked, { code: 'SESSION_BUSY', workerId });
      }
    }
  }),
  storeCase('a missing session cannot be claimed', async ({ store, created }) => {
    const absent = { code: 'SESSION_NOT_FOUND', sessionId: 'a' };
    await assert.rejects(store.claim('a', ADA), absent);
    await created('a');
    const { claim } = await store.claim('a', ADA);
    await store.delete('a');
    await assert.rejects(store.claim('a', ADA), absent);
    await assert.rejects(store.renew(claim, ADA), absent);
    assert.equal(await store.release(claim), false);
    assert.equal(await store.exists('a'), false);
  }),
  storeCase(
    'a claim changes neither the session nor its position in lists by creation',
    async ({ store, clock, created }) => {
      const session = await created('a');
      const {
        sessions: [listed],
      } = await store.list();
      assert(listed);
      clock.time += 1_000;
      const { claim } = await store.claim('a', ADA);
      await store.renew(claim, ADA);
      assert.deepEqual(await store.load('a'), session);
      await store.release(claim);
      assert.deepEqual(await store.load('a'), session);
      assert.deepEqual((await store.list()).sessions, [{ ...listed, lastActiveAt: clock.time }]);
    },
  ),
];

const holding = [
  storeCase('a renewed claim lasts from the time of the renewal', async ({ store, clock, created }) => {
    await created('a');
    const { claim } = await store.claim('a', ADA);
    clock.time += 50_000;
    const renewed = await store.renew(claim, { leaseSeconds: 30 });
    assert.deepEqual(renewed, { claim: { ...claim, until: START + 80_000 }, inbox: [], unreadable: [] });
    clock.time = START + 79_999;
    await assert.rejects(store.claim('a', BEN), { code: 'SESSION_BUSY', until: START + 80_000 });
    clock.time += 1;
    assert.equal((await store.claim('a', BEN)).claim.epoch, 2);
  }),
  storeCase('a claim can be renewed with an earlier value of it', async ({ store, clock, created }) => {
    await created('a');
    const { claim } = await store.claim('a', ADA);
    for (let seconds = 10; seconds <= 30; seconds += 10) {
      clock.time = START + seconds * 1_000;
      assert.equal((await store.renew(claim, ADA)).claim.until, clock.time + 60_000);
    }
  }),
  storeCase(
    'an expired claim can be renewed while no other worker has claimed the session',
    async (context) => {
      const { store, clock, created } = context;
      await created('a');
      const { claim } = await store.claim('a', ADA);
      clock.time += 100_000;
      assert.deepEqual((await store.renew(claim, ADA)).claim, { ...claim, until: START + 160_000 });
      await assert.rejects(store.claim('a', BEN), { code: 'SESSION_BUSY', workerId: 'Ada' });
    },
  ),
  storeCase('a lease can be a fraction of a second', async ({ store, clock, created }) => {
    await created('a');
    const { claim } = await store.claim('a', { workerId: 'Ada', leaseSeconds: 0.0015 });
    assert.equal(claim.until, START + 2);
    clock.time += 2;
    assert.equal((await store.claim('a', BEN)).claim.epoch, 2);
  }),
  storeCase(
    'after a release another worker can claim at once, and a second release does nothing',
    async ({ store, created }) => {
      await created('a');
      const { claim } = await store.claim('a', ADA);
      assert.equal(await store.release(claim), true);
      assert.equal(await store.release(claim), false);
      const { claim: next, attempt } = await store.claim('a', BEN);
      assert.deepEqual([next.epoch, attempt], [2, 1]);
      assert.equal(await store.release(claim), false);
      await assert.rejects(store.claim('a', ADA), { code: 'SESSION_BUSY', workerId: 'Ben' });
    },
  ),
  storeCase('a released claim cannot be renewed', async ({ store, created }) => {
    await created('a');
    const { claim } = await store.claim('a', ADA);
    await store.release(claim);
    await assert.rejects(store.renew(claim, ADA), { code: 'SESSION_CONFLICT', kind: 'fenced' });
    const again = await store.claim('a', ADA);
    assert.equal(again.claim.epoch, 2);
    await assert.rejects(store.renew(claim, ADA), { kind: 'fenced', expected: 1, actual: 2 });
  }),
  storeCase('claims of several sessions are independent', async ({ store, created }) => {
    for (const id of ['a', 'b']) await created(id);
    const first = await store.claim('a', ADA);
    const second = await store.claim('b', ADA);
    assert.equal(await store.release(first.claim), true);
    await assert.rejects(store.claim('b', BEN), { code: 'SESSION_BUSY', workerId: 'Ada' });
    assert.equal(await store.release(second.claim), true);
  }),
];

/** Claims: which worker gets a claim, and for how long. */
export const claimCases: readonly UngroupedCase[] = [...asking, ...holding];
