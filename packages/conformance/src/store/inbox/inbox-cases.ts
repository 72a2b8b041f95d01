import assert from 'node:assert/strict';
import { inboxOf, itemIdsOf, named } from '../case/inbox-contents.ts';
import { START, storeCase, withFact, type UngroupedCase } from '../case/store-case.ts';

const LEASE = { leaseSeconds: 60 };

const order = [
  storeCase(
    'items are returned in the order in which they were enqueued',
    async ({ store, clock, created }) => {
      await created('a');
      for (const id of ['c', 'a', 'b', '10', '9']) {
        assert.equal(await store.enqueue('a', { id, content: { text: id } }), true);
        clock.time += 1_000;
      }
      assert.deepEqual(
        await inboxOf(store),
        ['c', 'a', 'b', '10', '9'].map((id, index) => ({
          id,
          position: index,
          content: { text: id },
          enqueuedAt: START + index * 1_000,
        })),
      );
    },
  ),
  storeCase('an item is enqueued once for each id', async ({ store, clock, created }) => {
    await created('a');
    assert.equal(await store.enqueue('a', { id: 'i', content: 'first' }), true);
    clock.time += 1_000;
    assert.equal(await store.enqueue('a', { id: 'i', content: 'second' }), false);
    assert.deepEqual(await inboxOf(store), [{ id: 'i', position: 0, content: 'first', enqueuedAt: START }]);
  }),
  storeCase('of 20 items that are enqueued at the same time, all are stored', async ({ store, created }) => {
    await created('a');
    const ids = Array.from({ length: 20 }, (_, index) => `item ${index}`);
    const kept = await Promise.all(ids.map((id) => store.enqueue('a', { id, content: id })));
    assert.deepEqual(new Set(kept), new Set([true]));
    const inbox = await inboxOf(store);
    assert.deepEqual(inbox.map(({ id }) => id).toSorted(), ids.toSorted());
    for (const { id, content } of inbox) assert.equal(content, id);
  }),
  storeCase('of 10 writers that enqueue the same id, exactly one succeeds', async ({ store, created }) => {
    await created('a');
    const asked = Array.from({ length: 10 }, (_, index) => store.enqueue('a', { id: 'i', content: index }));
    const kept = (await Promise.all(asked)).flatMap((isKept, index) => (isKept ? [index] : []));
    assert.equal(kept.length, 1);
    assert.deepEqual(
      (await inboxOf(store)).map(({ content }) => content),
      kept,
    );
  }),
  storeCase('inboxes of several sessions are independent', async ({ store, created }) => {
    for (const id of ['a', 'b']) await created(id);
    assert.equal(await store.enqueue('a', { id: 'i', content: 1 }), true);
    assert.equal(await store.enqueue('b', { id: 'i', content: 2 }), true);
    const { session, claim, inbox } = await store.claim('b', { workerId: 'Ada', ...LEASE });
    assert.deepEqual(inbox[0]?.content, 2);
    await store.save(session, { epoch: claim.epoch, acknowledge: named('i') });
    assert.deepEqual(
      (await inboxOf(store)).map(({ content }) => content),
      [1],
    );
  }),
  storeCase('an enqueue changes neither the session nor its version', async ({ store, clock, created }) => {
    const base = await created('a');
    clock.time += 1_000;
    await store.enqueue('a', { id: 'i', content: null });
    assert.deepEqual(await store.load('a'), base);
    const saved = await store.save(withFact(base, 'n', 1), { base });
    assert.equal(saved.version, 2);
    assert.equal((await inboxOf(store)).length, 1);
  }),
];

const using = [
  storeCase('an item that is enqueued during a claim is returned by the next renewal', async (context) => {
    const { store, created } = context;
    await created('a');
    const { claim, inbox } = await store.claim('a', { workerId: 'Ada', ...LEASE });
    assert.deepEqual(inbox, []);
    assert.equal(await store.enqueue('a', { id: 'i', content: { stop: true } }), true);
    const renewed = await store.renew(claim, LEASE);
    assert.deepEqual(renewed.inbox, [{ id: 'i', position: 0, content: { stop: true }, enqueuedAt: START }]);
    await store.enqueue('a', { id: 'j', content: 2 });
    assert.deepEqual(await itemIdsOf(store, claim), ['i', 'j']);
  }),
  storeCase('a save removes the items that it acknowledges, and no others', async ({ store, created }) => {
    await created('a');
    for (const id of ['i', 'j', 'k']) await store.enqueue('a', { id, content: id });
    const { session, claim } = await store.claim('a', { workerId: 'Ada', ...LEASE });
    const acknowledge = [
      { id: 'j', position: 1 },
      { id: 'never there', position: 3 },
    ];
    const options = { base: session, epoch: claim.epoch, acknowledge };
    const saved = await store.save(withFact(session, 'used', 'j'), options);
    assert.deepEqual(await itemIdsOf(store, claim), ['i', 'k']);
    await store.save(saved, { base: saved, epoch: claim.epoch, acknowledge: named('i', 'j', 'k') });
    assert.deepEqual(await itemIdsOf(store, claim), []);
    await store.release(claim);
    assert.deepEqual(await inboxOf(store), []);
  }),
  storeCase('a save that acknowledges nothing does not change the inbox', async ({ store, created }) => {
    const base = await created('a');
    await store.enqueue('a', { id: 'i', content: 1 });
    const saved = await store.save(withFact(base, 'n', 1), { base });
    await store.save(saved, { acknowledge: [] });
    assert.equal((await inboxOf(store)).length, 1);
  }),
  storeCase('a refused save does not remove items', async ({ store, clock, created }) => {
    const base = await created('a');
    await store.enqueue('a', { id: 'i', content: 1 });
    const { session, claim } = await store.claim('a', { workerId: 'Ada', ...LEASE });
    const acknowledge = named('i');
    await assert.rejects(store.save(base, { acknowledge }), { code: 'SESSION_BUSY' });
    await assert.rejects(store.save(base, { epoch: 7, acknowledge }), { kind: 'fenced' });
    await store.save(session, { epoch: claim.epoch });
    const stale = { epoch: claim.epoch, acknowledge };
    await assert.rejects(store.save(session, stale), { kind: 'stale' });
    await assert.rejects(store.save(session, { ...stale, base: session }), { kind: 'stale' }); // refused by the compare-and-set
    clock.time += 60_000;
    assert.equal((await inboxOf(store)).length, 1);
  }),
  storeCase('a repeated save removes its items once', async ({ store, created }) => {
    const base = await created('a');
    for (const id of ['i', 'j']) await store.enqueue('a', { id, content: id });
    const options = { base, operationId: 'op', acknowledge: named('i') };
    const changed = withFact(base, 'n', 1);
    const saved = await store.save(changed, options);
    await store.enqueue('a', { id: 'k', content: 'k' });
    assert.deepEqual(await store.save(changed, options), saved);
    assert.deepEqual(
      (await inboxOf(store)).map(({ id }) => id),
      ['j', 'k'],
    );
  }),
  storeCase('a used item cannot be enqueued again', async ({ store, created }) => {
    const base = await created('a');
    await store.enqueue('a', { id: 'i', content: 'first' });
    const saved = await store.save(base, { base, acknowledge: named('i') });
    assert.equal(await store.enqueue('a', { id: 'i', content: 'second' }), false);
    const { claim } = await store.claim('a', { workerId: 'Ada', ...LEASE });
    assert.equal(await store.enqueue('a', { id: 'i', content: 'third' }), false);
    assert.deepEqual(await itemIdsOf(store, claim), []);
    await store.save(saved, { epoch: claim.epoch });
    await store.release(claim);
    assert.equal(await store.enqueue('a', { id: 'i', content: 'fourth' }), false);
    assert.deepEqual(await inboxOf(store), []);
  }),
  storeCase('the ids of the last 16 used items are remembered', async ({ store, created }) => {
    let session = await created('a');
    const ids = Array.from({ length: 20 }, (_, index) => `item ${index}`);
    for (const [position, id] of ids.entries()) {
      await store.enqueue('a', { id, content: null });
      session = await store.save(session, { base: session, acknowledge: [{ id, position }] });
    }
    for (const id of ids.slice(-16)) assert.equal(await store.enqueue('a', { id, content: null }), false, id);
    assert.deepEqual(await inboxOf(store), []);
    const forgotten = ids.slice(0, 4);
    for (const id of forgotten) assert.equal(await store.enqueue('a', { id, content: null }), true, id);
    assert.deepEqual(
      (await inboxOf(store)).map(({ id }) => id),
      forgotten,
    );
  }),
];

const limits = [
  storeCase(
    'a full inbox refuses another item until an item was used',
    async ({ store, created }) => {
      const base = await created('a');
      for (const id of ['i', 'j', 'k']) assert.equal(await store.enqueue('a', { id, content: null }), true);
      await assert.rejects(store.enqueue('a', { id: 'l', content: null }), {
        code: 'INBOX_FULL',
        sessionId: 'a',
      });
      assert.deepEqual(
        (await inboxOf(store)).map(({ id }) => id),
        ['i', 'j', 'k'],
      );
      await store.save(base, { base, acknowledge: named('i', 'j').slice(1) });
      assert.equal(await store.enqueue('a', { id: 'l', content: null }), true);
      assert.deepEqual(
        (await inboxOf(store)).map(({ id, position }) => [id, position]),
        [
          ['i', 0],
          ['k', 2],
          ['l', 3],
        ],
      );
    },
    { maxInboxItems: 3 },
  ),
  storeCase('an inbox of more than a hundred items is read in pages', async ({ store, created }) => {
    await created('a');
    const ids = Array.from({ length: 230 }, (_, index) => `item ${index}`);
    for (const id of ids) await store.enqueue('a', { id, content: id });
    const { session, claim, inbox } = await store.claim('a', { workerId: 'Ada', ...LEASE });
    assert.deepEqual(
      inbox.map(({ id }) => id),
      ids.slice(0, 100),
    );
    const second = await store.renew(claim, { ...LEASE, after: 99 });
    assert.deepEqual(
      second.inbox.map(({ id }) => id),
      ids.slice(100, 200),
    );
    await store.save(session, {
      base: session,
      epoch: claim.epoch,
      acknowledge: [...inbox.slice(10), ...second.inbox],
    });
    const left = await store.renew(claim, LEASE);
    assert.deepEqual(
      left.inbox.map(({ id }) => id),
      [...ids.slice(0, 10), ...ids.slice(200)],
    );
    assert.deepEqual((await store.renew(claim, { ...LEASE, after: 229 })).inbox, []);
  }),
];

const ends = [
  storeCase('an inbox is deleted with its session', async ({ store, created }) => {
    await created('a');
    await store.enqueue('a', { id: 'i', content: 'old' });
    await store.delete('a');
    await created('a');
    assert.deepEqual(await inboxOf(store), []);
    assert.equal(await store.enqueue('a', { id: 'i', content: 'new' }), true);
    assert.deepEqual(await inboxOf(store), [{ id: 'i', position: 0, content: 'new', enqueuedAt: START }]);
  }),
  storeCase('the ids of used items are deleted with their session', async ({ store, created }) => {
    const base = await created('a');
    await store.enqueue('a', { id: 'i', content: 'old' });
    await store.save(base, { acknowledge: named('i') });
    await store.delete('a');
    await created('a');
    assert.equal(await store.enqueue('a', { id: 'i', content: 'new' }), true);
  }),
  storeCase('a missing session has no inbox', async ({ store, created }) => {
    const absent = { code: 'SESSION_NOT_FOUND', sessionId: 'a' };
    await assert.rejects(store.enqueue('a', { id: 'i', content: 1 }), absent);
    await created('a');
    await store.delete('a');
    await assert.rejects(store.enqueue('a', { id: 'i', content: 1 }), absent);
    assert.equal(await store.exists('a'), false);
  }),
];

/** The inbox: how items are enqueued and used. */
export const inboxCases: readonly UngroupedCase[] = [...order, ...using, ...limits, ...ends];
