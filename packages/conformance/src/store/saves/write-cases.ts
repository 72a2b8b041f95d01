import assert from 'node:assert/strict';
import type { SessionStore } from '@holdfast/core';
import { START, storeCase, withFact, type UngroupedCase } from '../case/store-case.ts';
import { onlyWinner, refusedAs } from '../case/races.ts';

const create = [
  storeCase('create saves version 0 as version 1', async ({ store, clock, session }) => {
    const unsaved = session('a');
    clock.time += 5_000;
    const created = await store.create(unsaved);
    assert.equal(created.version, 1);
    assert.notEqual(created.revision.incarnation, '');
    assert.equal(created.createdAt, START);
    assert.equal(created.updatedAt, START + 5_000);
    assert.equal(unsaved.version, 0);
    assert.deepEqual(await store.load('a'), created);
  }),
  storeCase('create refuses an existing id', async ({ store, session, created }) => {
    const first = await created('a');
    await assert.rejects(store.create(withFact(session('a'), 'is', 'second')), {
      code: 'SESSION_CONFLICT',
      kind: 'exists',
      sessionId: 'a',
      expected: 0,
      actual: 1,
    });
    assert.deepEqual(await store.load('a'), first);
  }),
  storeCase('create refuses a session that was saved before', async ({ store, created }) => {
    const first = await created('a');
    await assert.rejects(store.create(first), { code: 'ARGUMENT_INVALID' });
    await store.delete('a');
    await assert.rejects(store.create(first), { code: 'ARGUMENT_INVALID' });
    assert.equal(await store.exists('a'), false);
  }),
  storeCase('of 10 writers that create one id, exactly one succeeds', async ({ store, session }) => {
    const attempts = Array.from({ length: 10 }, (_, index) =>
      store.create(withFact(session('a'), 'by', index)),
    );
    const winner = await onlyWinner(attempts, refusedAs('exists'));
    assert.deepEqual(await store.load('a'), winner);
  }),
  storeCase('a missing session is not loaded and does not exist', async ({ store, created }) => {
    await created('a');
    assert.equal(await store.load('b'), undefined);
    assert.equal(await store.exists('b'), false);
    assert.equal(await store.exists('a'), true);
  }),
];

const save = [
  storeCase('save stores the next version', async ({ store, clock, created }) => {
    const first = await created('a');
    clock.time += 1_000;
    const saved = await store.save(withFact(first, 'mood', 'good').withStatus('suspended'));
    assert.equal(saved.version, 2);
    assert.equal(saved.revision.incarnation, first.revision.incarnation);
    assert.equal(saved.updatedAt, START + 1_000);
    assert.equal(saved.createdAt, START);
    const loaded = await store.load('a');
    assert.deepEqual(loaded, saved);
    assert.equal(loaded?.status, 'suspended');
    assert.equal(loaded?.state.metadata.get('mood'), 'good');
  }),
  storeCase('a loaded session is its own base', async ({ store, created }) => {
    const base = await created('a');
    const saved = await store.save(withFact(base, 'n', 1), { base });
    const again = await store.save(withFact(saved, 'n', 2), { base: saved });
    assert.equal(again.version, 3);
    assert.deepEqual(await store.load('a'), again);
  }),
  storeCase('the time of the last change never goes back', async ({ store, clock, created }) => {
    const first = await created('a');
    clock.time -= 60_000;
    const saved = await store.save(first);
    assert.equal(saved.updatedAt, START);
    assert.deepEqual(await store.load('a'), saved);
  }),
  storeCase('a stale save is refused and changes nothing', async ({ store, created }) => {
    const first = await created('a');
    const second = await store.save(withFact(first, 'n', 1));
    await assert.rejects(store.save(withFact(first, 'n', 2)), {
      code: 'SESSION_CONFLICT',
      kind: 'stale',
      expected: 1,
      actual: 2,
    });
    assert.deepEqual(await store.load('a'), second);
  }),
  storeCase('save of a session that was never created is refused', async ({ store, session, created }) => {
    await assert.rejects(store.save(session('a')), { code: 'SESSION_NOT_FOUND', sessionId: 'a' });
    assert.equal(await store.exists('a'), false);
    await created('a');
    await assert.rejects(store.save(session('a')), { code: 'SESSION_CONFLICT', kind: 'exists', actual: 1 });
  }),
  storeCase('save after delete is refused and restores nothing', async ({ store, created }) => {
    const first = await created('a');
    await store.delete('a');
    await assert.rejects(store.save(first), { code: 'SESSION_NOT_FOUND' });
    assert.equal(await store.load('a'), undefined);
  }),
  storeCase('save to a later incarnation is refused', async ({ store, created }) => {
    const old = await created('a');
    await store.delete('a');
    const anew = await created('a');
    assert.notEqual(anew.revision.incarnation, old.revision.incarnation);
    assert.equal(anew.version, old.version);
    const refusal = { code: 'SESSION_CONFLICT', kind: 'recreated' };
    await assert.rejects(store.save(withFact(old, 'is', 'old')), refusal);
    await assert.rejects(store.delete('a', { revision: old.revision }), refusal);
    assert.deepEqual(await store.load('a'), anew);
  }),
  storeCase('save to a storage that has dropped versions is refused', async ({ store, created }) => {
    const first = await created('a');
    const ahead = first.withRevision({ ...first.revision, version: 5 }, START);
    await assert.rejects(store.save(ahead), { kind: 'store-behind', expected: 5, actual: 1 });
    assert.deepEqual(await store.load('a'), first);
  }),
  storeCase('of 30 writers that save one version, exactly one succeeds', async ({ store, created }) => {
    const base = await created('a');
    const saves = Array.from({ length: 30 }, (_, index) => store.save(withFact(base, 'by', index)));
    const winner = await onlyWinner(saves, refusedAs('stale'));
    assert.deepEqual(await store.load('a'), winner);
  }),
  storeCase('8 writers that count to 25 count to 200', async ({ store, created }) => {
    await created('a');
    await Promise.all(Array.from({ length: 8 }, () => countUp(store, 'a', 25)));
    const counted = await store.load('a');
    assert.equal(counted?.state.metadata.get('count'), 200);
    assert.equal(counted?.version, 201);
  }),
];

const remove = [
  storeCase('delete removes a session and returns whether it existed', async ({ store, created }) => {
    await created('a');
    await created('b');
    assert.equal(await store.delete('a'), true);
    assert.equal(await store.delete('a'), false);
    assert.equal(await store.exists('a'), false);
    assert.equal(await store.load('a'), undefined);
    assert.equal(await store.exists('b'), true);
  }),
  storeCase('delete of a revision deletes only that revision', async ({ store, created }) => {
    const first = await created('a');
    const second = await store.save(first);
    await assert.rejects(store.delete('a', { revision: first.revision }), {
      code: 'SESSION_CONFLICT',
      kind: 'stale',
      expected: 1,
      actual: 2,
    });
    assert.deepEqual(await store.load('a'), second);
    assert.equal(await store.delete('a', { revision: second.revision }), true);
    assert.equal(await store.delete('a', { revision: second.revision }), false);
  }),
];

const MAX_ATTEMPTS = 5_000;

/** Adds 1 to a count several times. Loads the session again after each conflict with another writer. */
async function countUp(store: SessionStore, sessionId: string, times: number): Promise<void> {
  for (let done = 0, attempts = 0; done < times; attempts++) {
    assert(attempts < MAX_ATTEMPTS, 'The writers block each other forever.');
    const base = await store.load(sessionId);
    assert(base);
    const count = base.state.metadata.get<number>('count') ?? 0;
    try {
      await store.save(withFact(base, 'count', count + 1), { base });
      done++;
    } catch (error) {
      refusedAs('stale')(error);
    }
  }
}

/** Writes: create, save, delete, and races between them. */
export const writeCases: readonly UngroupedCase[] = [...create, ...save, ...remove];
