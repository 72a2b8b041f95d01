import assert from 'node:assert/strict';
import { hasErrorCode } from '@holdfast/core';
import { fullState } from '../saves/change-cases.ts';
import { WAITINGS, WAKE_AT, stateWaiting } from '../case/execution-states.ts';
import { HOSTILE_IDS } from '../case/hostile-ids.ts';
import { inboxOf, named } from '../case/inbox-contents.ts';
import { emptyState, START, storeCase, type UngroupedCase } from '../case/store-case.ts';

const LEASE = { workerId: 'Ada', leaseSeconds: 60 };

const inspection = [
  storeCase('an inspection shows a claim, and changes nothing', async ({ store, created, clock }) => {
    await created('a');
    const { claim } = await store.claim('a', LEASE);
    const inspected = await store.inspect('a');
    assert.deepEqual([inspected.claim, inspected.attempt], [claim, 1]);
    assert.equal(inspected.dueAt, claim.until);
    assert.deepEqual(await store.inspect('a'), inspected);
    clock.time = claim.until + 1;
    assert.deepEqual((await store.inspect('a')).claim, claim);
    await store.release(claim);
    const { claim: none, attempt, dueAt } = await store.inspect('a');
    assert.deepEqual([none, attempt, dueAt], [undefined, 0, undefined]);
  }),
  storeCase('an inspection shows the inbox without a claim', async ({ store, created, clock }) => {
    await created('a');
    for (const id of ['i', 'j']) await store.enqueue('a', { id, content: { text: id } });
    const { inbox, waitingItems, dueAt } = await store.inspect('a');
    assert.deepEqual(
      inbox.inbox.map(({ id, content }) => [id, content]),
      [
        ['i', { text: 'i' }],
        ['j', { text: 'j' }],
      ],
    );
    assert.deepEqual([waitingItems, dueAt], [2, clock.time]);
    assert.equal((await inboxOf(store)).length, 2);
  }),
  storeCase('an inspection shows when the session is due and when it expires', async ({ store, session }) => {
    const state = stateWaiting(emptyState(), WAITINGS.until);
    await store.create(session('a', { state }), { expiry: { afterSeconds: 7_200 } });
    const { info, dueAt, expiresAt } = await store.inspect('a');
    assert.deepEqual([info.waitingFor, dueAt, expiresAt], ['until', WAKE_AT, START + 7_200_000]);
  }),
  storeCase('an inspection shows the sizes of the parts in bytes', async ({ store, session }) => {
    await store.create(session('a', { state: fullState() }));
    const { sizes } = await store.inspect('a');
    const messages = sizes.lists.find(({ name }) => name === 'messages:messages');
    const text = fullState()
      .messages.toArray()
      .map((message) => JSON.stringify(message));
    const bytes = text.reduce((sum, each) => sum + Buffer.byteLength(each), 0);
    assert.deepEqual(messages, { name: 'messages:messages', length: 10, bytes });
    const lists = sizes.lists.reduce((sum, list) => sum + list.bytes, 0);
    assert.equal(sizes.totalBytes, lists + sizes.headBytes + sizes.valueBytes);
  }),
  storeCase(
    'an inspection of a session that does not exist is refused',
    async ({ store, created, clock }) => {
      const isMissing = (error: unknown): boolean => hasErrorCode(error, 'SESSION_NOT_FOUND');
      await assert.rejects(store.inspect('a'), isMissing);
      const base = await created('a');
      await store.save(base, { base, expiry: { at: clock.time + 1_000 } });
      clock.time += 1_000;
      await assert.rejects(store.inspect('a'), isMissing);
    },
  ),
];

const removal = [
  storeCase('an item is removed by its id while it waits', async ({ store, created }) => {
    await created('a');
    for (const id of HOSTILE_IDS) await store.enqueue('a', { id, content: id });
    for (const id of HOSTILE_IDS.filter((_, index) => index % 2 === 0))
      assert.equal(await store.removeItem('a', id), true);
    assert.equal(await store.removeItem('a', HOSTILE_IDS[0] ?? ''), false);
    assert.equal(await store.removeItem('a', 'none'), false);
    const left = HOSTILE_IDS.filter((_, index) => index % 2 === 1);
    assert.deepEqual(
      (await inboxOf(store)).map(({ content }) => content),
      left,
    );
  }),
  storeCase('a removed item can be enqueued again', async ({ store, created }) => {
    await created('a');
    await store.enqueue('a', { id: 'i', content: 1 });
    await store.removeItem('a', 'i');
    assert.equal(await store.enqueue('a', { id: 'i', content: 2 }), true);
    assert.deepEqual(
      (await inboxOf(store)).map(({ content, position }) => [content, position]),
      [[2, 1]],
    );
  }),
  storeCase('an item that a worker has read is not removed while the worker may use it', async (context) => {
    const { store, created } = context;
    await created('a');
    await store.enqueue('a', { id: 'read', content: 1 });
    const { claim } = await store.claim('a', LEASE);
    await store.enqueue('a', { id: 'unread', content: 2 });
    assert.equal(await store.removeItem('a', 'read'), false);
    assert.equal(await store.removeItem('a', 'unread'), true);
    await store.enqueue('a', { id: 'renewed', content: 3 });
    const renewed = await store.renew(claim, { leaseSeconds: 60, after: 0 });
    assert.deepEqual(
      renewed.inbox.map(({ id }) => id),
      ['renewed'],
    );
    assert.equal(await store.removeItem('a', 'renewed'), false);
    await store.release(claim);
    assert.equal(await store.removeItem('a', 'read'), true);
    assert.deepEqual(
      (await inboxOf(store)).map(({ id }) => id),
      ['renewed'],
    );
  }),
  storeCase('an item is either removed or used', async ({ store, created }) => {
    await created('a');
    await store.enqueue('a', { id: 'i', content: 1 });
    const [isRemoved, claimed] = await Promise.all([store.removeItem('a', 'i'), store.claim('a', LEASE)]);
    const { session, claim, inbox } = claimed;
    assert.equal(inbox.length === 0, isRemoved);
    await store.save(session, {
      base: session,
      epoch: claim.epoch,
      acknowledge: isRemoved ? [] : named('i'),
    });
    assert.equal((await store.inspect('a')).waitingItems, 0);
  }),
  storeCase('after its last item was removed, a session is not due', async ({ store, created }) => {
    await created('a');
    await store.enqueue('a', { id: 'i', content: 1 });
    assert.equal((await store.due()).sessions.length, 1);
    await store.removeItem('a', 'i');
    assert.deepEqual((await store.due()).sessions, []);
  }),
];

const worker = (workerName: string, sessionIds: readonly string[] = []) => ({
  workerName,
  since: START,
  sessionIds,
});

const workers = [
  storeCase('workers announce themselves until their time is over', async ({ store, clock }) => {
    assert.deepEqual(await store.workers(), []);
    await store.announce(worker('Ada', ['a', 'b']), 60);
    clock.time += 1_000;
    await store.announce(worker('Bo'), 60);
    const both = await store.workers();
    assert.deepEqual(both, [
      { ...worker('Bo'), seenAt: START + 1_000 },
      { ...worker('Ada', ['a', 'b']), seenAt: START },
    ]);
    clock.time = START + 60_000;
    assert.deepEqual(
      (await store.workers()).map(({ workerName }) => workerName),
      ['Bo'],
    );
    clock.time += 1_000;
    assert.deepEqual(await store.workers(), []);
  }),
  storeCase('a worker replaces what it announced, and ends', async ({ store, clock }) => {
    await store.announce(worker('Ada', ['a']), 60);
    clock.time += 30_000;
    await store.announce(worker('Ada', ['b']), 60);
    clock.time += 59_999;
    assert.deepEqual(
      (await store.workers()).map(({ sessionIds }) => sessionIds),
      [['b']],
    );
    await store.announce(worker('Ada'), 0);
    assert.deepEqual(await store.workers(), []);
  }),
  storeCase('workers of any name are distinct', async ({ store }) => {
    for (const name of HOSTILE_IDS) await store.announce(worker(name, [name]), 60);
    const found = await store.workers();
    assert.equal(found.length, HOSTILE_IDS.length);
    const byName = new Map(found.map(({ workerName, sessionIds }) => [workerName, sessionIds]));
    for (const name of HOSTILE_IDS) assert.deepEqual(byName.get(name), [name]);
  }),
];

/** The facts about sessions and workers that a store shows without a claim. */
export const inspectionCases: readonly UngroupedCase[] = [...inspection, ...removal, ...workers];
