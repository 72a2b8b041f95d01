import assert from 'node:assert/strict';
import type { ClaimOptions } from '@holdfast/core/store';
import { named } from '../case/inbox-contents.ts';
import { storeCase, type UngroupedCase } from '../case/store-case.ts';

const ADA: ClaimOptions = { workerId: 'Ada', leaseSeconds: 60 };
const BEN: ClaimOptions = { workerId: 'Ben', leaseSeconds: 60 };
const IDLE = { onlyIfIdle: true };

/** Releasing a claim only if no items wait. */
export const releaseCases: readonly UngroupedCase[] = [
  storeCase('a release with onlyIfIdle does not release while the inbox has items', async (context) => {
    const { store, clock, created } = context;
    await created('a');
    const { claim, session } = await store.claim('a', ADA);
    await store.enqueue('a', { id: 'i', content: 1 });
    clock.time += 10_000;
    for (let times = 0; times < 2; times++) assert.equal(await store.release(claim, IDLE), false);
    const busy = { code: 'SESSION_BUSY', workerId: 'Ada', until: claim.until };
    await assert.rejects(store.claim('a', BEN), busy);
    assert.deepEqual((await store.due()).sessions, []);
    const saved = await store.save(session, { base: session, epoch: claim.epoch });
    assert.equal(saved.version, 2);
    const renewed = await store.renew(claim, ADA);
    assert.deepEqual([renewed.claim.epoch, renewed.inbox.map(({ id }) => id)], [1, ['i']]);
  }),
  storeCase('a release with onlyIfIdle releases when the inbox is empty', async ({ store, created }) => {
    await created('a');
    const first = await store.claim('a', ADA);
    assert.equal(await store.release(first.claim, IDLE), true);
    assert.equal(await store.release(first.claim, IDLE), false);
    const { claim, session, attempt } = await store.claim('a', BEN);
    assert.deepEqual([claim.epoch, attempt], [2, 1]);
    await store.enqueue('a', { id: 'i', content: 1 });
    assert.equal(await store.release(claim, IDLE), false);
    await store.save(session, { base: session, epoch: claim.epoch, acknowledge: named('i') });
    assert.equal(await store.release(claim, IDLE), true);
    assert.equal((await store.claim('a', ADA)).attempt, 1);
  }),
  storeCase('a release without onlyIfIdle releases, whatever the inbox contains', async (context) => {
    const { store, created } = context;
    for (const [index, options] of [undefined, {}, { onlyIfIdle: false }].entries()) {
      const id = `session ${index}`;
      await created(id);
      const { claim } = await store.claim(id, ADA);
      await store.enqueue(id, { id: 'i', content: 1 });
      assert.equal(await store.release(claim, options), true);
      assert((await store.due()).sessions.some(({ sessionId }) => sessionId === id));
      const { inbox, attempt } = await store.claim(id, BEN);
      assert.deepEqual([inbox.map((item) => item.id), attempt], [['i'], 1]);
    }
  }),
  storeCase('a release with onlyIfIdle of a fenced claim does nothing', async ({ store, clock, created }) => {
    await created('a');
    const { claim } = await store.claim('a', ADA);
    clock.time += 60_000;
    const { claim: next } = await store.claim('a', BEN);
    assert.equal(await store.release(claim, IDLE), false);
    await assert.rejects(store.claim('a', ADA), { code: 'SESSION_BUSY', workerId: 'Ben' });
    assert.equal(await store.release(next, IDLE), true);
  }),
  storeCase(
    'of an enqueue and a release with onlyIfIdle at the same time, one is first',
    async ({ store, created }) => {
      for (let round = 0; round < 20; round++) {
        const id = `session ${round}`;
        await created(id);
        const { claim } = await store.claim(id, ADA);
        const release = () => store.release(claim, IDLE);
        const enqueue = () => store.enqueue(id, { id: 'i', content: 1 });
        const answers = await Promise.all(round % 2 === 0 ? [release(), enqueue()] : [enqueue(), release()]);
        const [isReleased, isKept] = round % 2 === 0 ? answers : answers.toReversed();
        assert.equal(isKept, true);
        const { inbox } = isReleased ? await store.claim(id, BEN) : await store.renew(claim, ADA);
        assert.equal(inbox.length, 1);
      }
    },
  ),
];
