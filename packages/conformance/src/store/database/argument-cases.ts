import assert from 'node:assert/strict';
import type { SessionExpiry } from '@holdfast/core';
import { idsOf } from '../case/list-pages.ts';
import { storeCase, type UngroupedCase } from '../case/store-case.ts';

const INVALID = { code: 'ARGUMENT_INVALID' };

/** Values as callers without types may pass them. */
const wrong = (...values: readonly unknown[]): readonly never[] => values as readonly never[];

const TEXTS = wrong('', 'x'.repeat(1_001), '\ud800', 7, null, undefined, {});
const DURATIONS = wrong(0, -1, Number.NaN, Number.POSITIVE_INFINITY, 1e12, '60', null, undefined);

/** Invalid arguments, which a store must refuse. */
export const argumentCases: readonly UngroupedCase[] = [
  storeCase('claims with an invalid worker id or lease are refused', async ({ store, created }) => {
    const session = await created('a');
    for (const workerId of TEXTS)
      await assert.rejects(store.claim('a', { workerId, leaseSeconds: 60 }), INVALID);
    for (const leaseSeconds of DURATIONS)
      await assert.rejects(store.claim('a', { workerId: 'Ada', leaseSeconds }), INVALID);
    const { claim, session: claimed } = await store.claim('a', { workerId: 'Ada', leaseSeconds: 60 });
    assert.deepEqual([claim.epoch, claimed], [1, session]);
    for (const leaseSeconds of DURATIONS) await assert.rejects(store.renew(claim, { leaseSeconds }), INVALID);
    assert.deepEqual((await store.renew(claim, { leaseSeconds: 60 })).claim, claim);
  }),
  storeCase('items without an id, and items that are not JSON, are refused', async ({ store, created }) => {
    await created('a');
    for (const id of TEXTS) await assert.rejects(store.enqueue('a', { id, content: 1 }), INVALID);
    let deep: unknown = 'bottom';
    for (let level = 0; level < 1_500; level++) deep = [deep];
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    for (const content of wrong(1n, { n: 1n }, cycle, deep))
      await assert.rejects(store.enqueue('a', { id: 'i', content }), { code: 'NOT_JSON' });
    const { inbox } = await store.claim('a', { workerId: 'Ada', leaseSeconds: 60 });
    assert.deepEqual(inbox, []);
  }),
  storeCase('an invalid expiry is refused', async ({ store, session, created }) => {
    const base = await created('a');
    const expiries: readonly SessionExpiry[] = [
      ...DURATIONS.map((afterSeconds) => ({ afterSeconds })),
      ...wrong(1.5, Number.NaN, '1', null, undefined).map((at) => ({ at })),
      ...wrong({}, 60, 'soon'),
    ];
    for (const expiry of expiries) {
      await assert.rejects(store.create(session('b'), { expiry }), INVALID);
      await assert.rejects(store.save(base, { expiry }), INVALID);
    }
    assert.equal(await store.exists('b'), false);
    assert.deepEqual(await store.load('a'), base);
  }),
  storeCase('invalid arguments of due are refused', async ({ store, created }) => {
    await created('a');
    for (const id of ['b', 'c']) {
      await created(id);
      await store.enqueue(id, { id: 'i', content: 1 });
    }
    for (const limit of [0, 101, -1, 1.5, Number.NaN]) await assert.rejects(store.due({ limit }), INVALID);
    for (const at of [1.5, Number.NaN, Number.POSITIVE_INFINITY])
      await assert.rejects(store.due({ at }), INVALID);
    const { cursor: ofList } = await store.list({ limit: 1 });
    const { cursor: ofDue } = await store.due({ limit: 1 });
    assert(ofList !== undefined && ofDue !== undefined);
    await assert.rejects(store.due({ cursor: ofList }), INVALID);
    await assert.rejects(store.list({ cursor: ofDue }), INVALID);
    for (const cursor of [
      '',
      'x',
      '[]',
      '{}',
      'null',
      '["dueAt","1","a"]',
      '["dueAt",1]',
      '["dueAt",1.5,"a"]',
    ])
      await assert.rejects(store.due({ cursor }), INVALID);
    assert.equal((await store.due({ cursor: ofDue, limit: 1 })).sessions.length, 1);
  }),
  storeCase('invalid limits and cursors of lists are refused', async ({ store, clock, created }) => {
    await created('a');
    clock.time += 1_000;
    await created('b');
    for (const limit of [0, 101, -1, 1.5, Number.NaN]) await assert.rejects(store.list({ limit }), INVALID);
    const { cursor } = await store.list({ limit: 1 });
    assert(cursor);
    await assert.rejects(store.list({ cursor, order: 'lastActiveAt' }), INVALID);
    for (const other of ['', 'x', '[]', '{}', 'null', '["createdAt",1.5,"a"]', '["createdAt",1e400,"a"]'])
      await assert.rejects(store.list({ cursor: other }), INVALID);
    assert.deepEqual(await idsOf(store, { cursor, limit: 1 }), ['a']);
  }),
  storeCase('an invalid limit of prune is refused', async ({ store }) => {
    for (const limit of wrong(0, -1, 1.5, Number.NaN, '1'))
      await assert.rejects(store.prune({ limit }), INVALID);
    assert.equal(await store.prune({}), 0);
  }),
  storeCase('a closed store refuses all calls except another close', async ({ store, session, created }) => {
    const kept = await created('a');
    const { claim } = await store.claim('a', { workerId: 'Ada', leaseSeconds: 60 });
    const { capabilities } = store;
    await store.close();
    await store.close();
    const methods: Readonly<Record<string, () => Promise<unknown>>> = {
      create: () => store.create(session('b')),
      load: () => store.load('a'),
      'load of no session': () => store.load(''),
      save: () => store.save(kept),
      'save on its base': () => store.save(kept, { base: kept, epoch: claim.epoch, operationId: 'o' }),
      claim: () => store.claim('a', { workerId: 'Ada', leaseSeconds: 60 }),
      renew: () => store.renew(claim, { leaseSeconds: 60 }),
      release: () => store.release(claim),
      enqueue: () => store.enqueue('a', { id: 'i', content: 1 }),
      exists: () => store.exists('a'),
      delete: () => store.delete('a'),
      list: () => store.list(),
      'list of no parent': () => store.list({ parentId: '' }),
      due: () => store.due(),
      prune: () => store.prune(),
    };
    for (const [name, method] of Object.entries(methods))
      await assert.rejects(method, { code: 'STORE_UNAVAILABLE', isAmbiguous: false }, name);
    assert.deepEqual(store.capabilities, capabilities);
  }),
];
