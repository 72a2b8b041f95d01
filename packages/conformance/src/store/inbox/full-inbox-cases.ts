import assert from 'node:assert/strict';
import type { SessionStore } from '@holdfast/core';
import { inboxOf, itemIdsOf, named } from '../case/inbox-contents.ts';
import { storeCase, type CaseContext, type UngroupedCase } from '../case/store-case.ts';

const ADA = { workerId: 'Ada', leaseSeconds: 60 };
const FULL = { code: 'INBOX_FULL', sessionId: 'a' };
/** The largest number of items beyond the limit, without the stop. */
const RESERVED = 100;

const put = (store: SessionStore, id: string, reserve?: string): Promise<boolean> =>
  store.enqueue('a', { id, content: id }, { reserve });

/** Creates a session whose inbox is full. */
async function fill({ store, created }: CaseContext): Promise<void> {
  await created('a');
  for (const id of ['i', 'j']) assert.equal(await put(store, id), true);
}

const waitingIds = async (store: SessionStore): Promise<readonly string[]> =>
  (await inboxOf(store)).map(({ id }) => id);

const cases = [
  storeCase(
    'a full inbox answers the repetition of an item as before, and refuses others',
    async (context) => {
      const { store } = context;
      await fill(context);
      for (const id of ['i', 'j']) assert.equal(await put(store, id), false, id);
      await assert.rejects(put(store, 'k'), FULL);
      assert.deepEqual(await waitingIds(store), ['i', 'j']);
    },
    { maxInboxItems: 2 },
  ),
  storeCase(
    'a full inbox answers the repetition of a used item as before',
    async (context) => {
      const { store } = context;
      await fill(context);
      const { session, claim } = await store.claim('a', ADA);
      await store.save(session, { base: session, epoch: claim.epoch, acknowledge: named('i') });
      await store.release(claim);
      assert.equal(await put(store, 'k'), true);
      for (const id of ['i', 'j', 'k']) assert.equal(await put(store, id), false, id);
      await assert.rejects(put(store, 'l'), FULL);
    },
    { maxInboxItems: 2 },
  ),
  storeCase(
    'a full inbox stores an item with a reserve beyond its limit, once for each name',
    async (context) => {
      const { store } = context;
      await fill(context);
      assert.equal(await put(store, 's', 'stop'), true);
      assert.equal(await put(store, 's', 'stop'), false, 'the same item');
      assert.equal(await put(store, 't', 'stop'), false, 'another item of its name');
      assert.equal(await put(store, 'd', 'approved 1'), true);
      await assert.rejects(put(store, 'k'), FULL);
      assert.deepEqual(await waitingIds(store), ['i', 'j', 's', 'd']);
    },
    { maxInboxItems: 2 },
  ),
  storeCase(
    'an inbox with room stores each item, whatever its reserve',
    async ({ store, created }) => {
      await created('a');
      for (const id of ['i', 'j']) assert.equal(await put(store, id, 'stop'), true);
      assert.equal(await put(store, 'k', 'stop'), true);
      assert.equal(await put(store, 'l', 'stop'), false);
      assert.deepEqual(await waitingIds(store), ['i', 'j', 'k']);
    },
    { maxInboxItems: 2 },
  ),
  storeCase(
    'the reserve of a full inbox has a limit, and a stop fits beyond it',
    async (context) => {
      const { store } = context;
      await fill(context);
      for (let count = 0; count < RESERVED; count++)
        assert.equal(await put(store, `d${count}`, `answer ${count}`), true);
      await assert.rejects(put(store, 'more', 'answer more'), FULL);
      assert.equal(await put(store, 'd7', 'answer 7'), false);
      assert.equal(await put(store, 's', 'stop'), true);
      assert.equal(await put(store, 't', 'stop'), false);
      assert.equal((await store.inspect('a')).waitingItems, 2 + RESERVED + 1);
    },
    { maxInboxItems: 2 },
  ),
  storeCase(
    'a place of the reserve is free once its item was used or removed',
    async (context) => {
      const { store } = context;
      await fill(context);
      await put(store, 's', 'stop');
      await put(store, 'd', 'answer 1');
      const { session, claim, inbox } = await store.claim('a', ADA);
      const acknowledge = inbox.filter(({ id }) => id === 's');
      await store.save(session, { base: session, epoch: claim.epoch, acknowledge });
      assert.equal(await put(store, 't', 'stop'), true);
      await store.release(claim);
      assert.equal(await store.removeItem('a', 't'), true);
      assert.equal(await put(store, 'u', 'stop'), true);
      assert.equal(await put(store, 'e', 'answer 1'), false);
      assert.deepEqual(await waitingIds(store), ['i', 'j', 'd', 'u']);
    },
    { maxInboxItems: 2 },
  ),
  storeCase(
    'of 10 writers of one reserve, one stores its item in a full inbox',
    async (context) => {
      const { store } = context;
      await fill(context);
      const stops = Array.from({ length: 10 }, (_, index) => put(store, `s${index}`, 'stop'));
      assert.equal((await Promise.all(stops)).filter(Boolean).length, 1);
      const { claim } = await store.claim('a', ADA);
      assert.equal((await itemIdsOf(store, claim)).length, 3);
    },
    { maxInboxItems: 2 },
  ),
];

/** Inboxes that hold as many items as they may. */
export const fullInboxCases: readonly UngroupedCase[] = cases;
