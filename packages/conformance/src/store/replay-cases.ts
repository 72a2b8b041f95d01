import assert from 'node:assert/strict';
import type { SessionStoreCase } from './store-case.ts';
import { storeCase, withFact } from './store-case.ts';

/** Saving with an operation id: a repetition is not a second save. */
export const replayCases: readonly SessionStoreCase[] = [
  storeCase(
    'a save that is repeated with its operation id is done once',
    async ({ store, clock, created }) => {
      const base = await created('a');
      const changed = withFact(base, 'n', 1);
      const first = await store.save(changed, { base, operationId: 'op-1' });
      clock.time += 1_000;
      const repeated = await store.save(changed, { base, operationId: 'op-1' });
      assert.deepEqual(repeated, first);
      assert.deepEqual(await store.load('a'), first);
      assert.equal((await store.save(withFact(repeated, 'n', 2), { operationId: 'op-2' })).version, 3);
    },
  ),
  storeCase('another operation, or one without an id, is not a repetition', async ({ store, created }) => {
    const base = await created('a');
    await store.save(withFact(base, 'n', 1), { operationId: 'op-1' });
    await assert.rejects(store.save(withFact(base, 'n', 2), { operationId: 'op-2' }), { kind: 'stale' });
    await assert.rejects(store.save(withFact(base, 'n', 2)), { kind: 'stale' });
    const second = await store.load('a');
    assert(second);
    await store.save(withFact(second, 'n', 3));
    await assert.rejects(store.save(withFact(second, 'n', 4)), { kind: 'stale' });
  }),
  storeCase('an operation that another writer has gone beyond is a conflict', async ({ store, created }) => {
    const base = await created('a');
    const first = await store.save(withFact(base, 'n', 1), { operationId: 'op-1' });
    await store.save(withFact(first, 'n', 2), { operationId: 'op-2' });
    await assert.rejects(store.save(withFact(base, 'n', 1), { operationId: 'op-1' }), {
      kind: 'stale',
      actual: 3,
    });
    const again = await store.load('a');
    assert(again);
    await store.save(again, { operationId: 'op-1' });
    await assert.rejects(store.save(base, { operationId: 'op-1' }), { kind: 'stale', actual: 4 });
  }),
  storeCase('an operation of an earlier incarnation is a conflict', async ({ store, created }) => {
    const base = await created('a');
    await store.save(base, { operationId: 'op-1' });
    await store.delete('a');
    await store.save(await created('a'), { operationId: 'op-1' });
    await assert.rejects(store.save(base, { operationId: 'op-1' }), { kind: 'recreated' });
  }),
  storeCase('operation ids may be any text and are told apart', async ({ store, created }) => {
    for (const [index, operationId] of ['', '\ud800', 'a\0b', '🦊', '"\\'].entries()) {
      const base = await created(`session ${index}`);
      const saved = await store.save(base, { operationId });
      assert.deepEqual(await store.save(base, { operationId }), saved);
      for (const other of ['\ufffd', 'a', 'a\0c', '\ud83e', '"']) {
        await assert.rejects(store.save(base, { operationId: other }), { kind: 'stale' });
      }
    }
  }),
];
