import { AgentSession } from '@holdfast/core';
import { BackedSessionStore, type StoredItem } from '@holdfast/core/store';
import { manualClock, steppedClock } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { MemoryBackend } from '../../../src/session/store/memory-session-store.ts';
import { nextStart, scriptedLoop } from '../../support/builders.ts';

const definition = { name: 'helper' };

/** The memory backend, which counts what is read, and whose archives can be damaged. */
class ArchiveBackend extends MemoryBackend {
  reads: string[] = [];
  damage: (items: readonly StoredItem[]) => readonly StoredItem[] = (items) => items;

  override async readSession(...[sessionId, request]: Parameters<MemoryBackend['readSession']>) {
    const found = await super.readSession(sessionId, request);
    if (found?.content) this.reads.push('session');
    return found;
  }

  override async readArchive(...args: Parameters<MemoryBackend['readArchive']>) {
    const [, , archive, { from, to, limit }] = args;
    this.reads.push(`${archive} ${from}-${to}/${limit}`);
    return this.damage(await super.readArchive(...args));
  }
}

/** A store with a session that has had so many executions, each saved once. */
async function withExecutions(count: number, keptRevisions = 0) {
  const clock = manualClock(nextStart());
  const backend = new ArchiveBackend();
  const store = new BackedSessionStore(backend, { clock, keptRevisions });
  let session = await store.create(AgentSession.create({ sessionId: 'a', definition, clock }));
  const saved = [session];
  const loop = scriptedLoop(
    Array.from({ length: count }, (_, index) => `Response ${index}.`),
    { clock: steppedClock(nextStart()) },
  );
  for (let index = 0; index < count; index++) {
    const state = await loop.run(session.state.withUserMessage(`Message ${index}.`));
    session = await store.save(session.withState(state), { base: session });
    saved.push(session);
  }
  const ids = saved.flatMap(({ state }) => state.executionId ?? []).toReversed();
  backend.reads = [];
  return { store, backend, session, saved, ids };
}

const refused = expect.objectContaining({ code: 'ARGUMENT_INVALID' });
const unreadable = expect.objectContaining({ code: 'STATE_FORMAT' });
const missing = expect.objectContaining({ code: 'SESSION_NOT_FOUND' });

describe('executions', () => {
  test('are read from the archive, and the last one from the session', async () => {
    const { store, backend, ids } = await withExecutions(5);
    const { executions, cursor } = await store.executions('a', { limit: 3 });
    expect(executions.map(({ executionId }) => executionId)).toEqual(ids.slice(0, 3));
    expect([cursor, backend.reads]).toEqual(['2', ['session', 'executions 2-4/2']]);
    backend.reads = [];
    const rest = await store.executions('a', { limit: 3, cursor });
    expect(rest.executions.map(({ executionId }) => executionId)).toEqual(ids.slice(3));
    expect([rest.cursor, backend.reads]).toEqual([undefined, ['executions 0-2/2']]);
  });

  test('need no content of a session that the caller has', async () => {
    const { store, backend, session, ids } = await withExecutions(3);
    const { executions } = await store.executions('a', { base: session });
    expect(executions.map(({ executionId }) => executionId)).toEqual(ids);
    expect(backend.reads).toEqual(['executions 0-2/2']);
  });

  test('with a page of one are the last one only', async () => {
    const { store, ids } = await withExecutions(2);
    const { executions, cursor } = await store.executions('a', { limit: 1 });
    expect([executions.map(({ executionId }) => executionId), cursor]).toEqual([ids.slice(0, 1), '1']);
  });

  test('that are unreadable are reported as such, and the pages continue behind them', async () => {
    const { store, backend } = await withExecutions(5);
    const whole = await store.executions('a');
    for (const json of ['', '{}', 'null', '{"executionId":1}']) {
      const isDamaged = (position: number): boolean => position === 1 || position === 2;
      backend.damage = (items) => items.map((item) => (isDamaged(item.position) ? { ...item, json } : item));
      const first = await store.executions('a', { limit: 2 });
      const damaged = await store.executions('a', { limit: 2, cursor: first.cursor });
      const last = await store.executions('a', { limit: 2, cursor: damaged.cursor });
      expect([...first.executions, ...last.executions]).toEqual(
        whole.executions.filter((_, index) => !isDamaged(4 - index)),
      );
      expect(damaged).toMatchObject({
        executions: [],
        unreadable: [
          { position: 2, error: unreadable },
          { position: 1, error: unreadable },
        ],
      });
    }
  });
});

describe('revisions', () => {
  test('are loaded by undoing the later saves, one after the other', async () => {
    const { store, backend, saved } = await withExecutions(4, 100);
    for (const session of saved) {
      backend.reads = [];
      expect(await store.loadRevision('a', session.version)).toEqual(session);
      const isLast = session.version === 5;
      const range = `revisions ${session.version}-6/${6 - session.version}`;
      expect(backend.reads).toEqual(isLast ? ['session'] : ['session', range]);
    }
  });

  test('are read a page at a time', async () => {
    const { store, backend } = await withExecutions(4, 100);
    const { revisions, cursor } = await store.revisions('a', { limit: 2 });
    expect([revisions.map(({ version }) => version), cursor]).toEqual([[5, 4], '4']);
    expect(backend.reads).toEqual(['revisions 4-6/2']);
    const rest = await store.revisions('a', { limit: 3, cursor });
    expect([rest.revisions.map(({ version }) => version), rest.cursor]).toEqual([[3, 2, 1], undefined]);
  });

  test('are not guessed when an entry is missing', async () => {
    const { store, backend } = await withExecutions(4, 100);
    for (const lost of [1, 3, 5]) {
      backend.damage = (items) => items.filter(({ position }) => position !== lost);
      expect([lost, await store.loadRevision('a', 1)]).toEqual([lost, undefined]);
    }
    backend.damage = (items) => items.map((item) => ({ ...item, json: '{}' }));
    await expect(store.loadRevision('a', 1)).rejects.toThrow(unreadable);
    expect(await store.revisions('a', { limit: 2 })).toMatchObject({
      revisions: [],
      unreadable: [{ position: 5 }, { position: 4 }],
      cursor: '4',
    });
  });

  test('of versions that were never kept are not there', async () => {
    const { store, backend } = await withExecutions(2, 2);
    for (const version of [1, 4, Number.MAX_SAFE_INTEGER])
      expect(await store.loadRevision('a', version)).toBeUndefined();
    expect(backend.reads).toEqual(['session', 'session', 'session']);
    const none = await withExecutions(2);
    expect(await none.store.loadRevision('a', 2)).toBeUndefined();
    expect((await none.store.revisions('a')).revisions).toEqual([
      { version: 3, savedAt: none.session.updatedAt, executionStatus: 'completed' },
    ]);
  });

  test('are dropped by a store that keeps none any more', async () => {
    const { backend, session } = await withExecutions(3, 100);
    const store = new BackedSessionStore(backend);
    const base = await store.load('a');
    await store.save(session.withStatus('completed'), { base });
    const kept = await new BackedSessionStore(backend, { keptRevisions: 9 }).revisions('a');
    expect(kept.revisions.map(({ version }) => version)).toEqual([5]);
    const record = await backend.readRecord('a');
    const range = { from: 0, to: 100, limit: 100 };
    expect(await backend.readArchive('a', record?.incarnation ?? '', 'revisions', range)).toEqual([]);
  });
});

test('pages of a session that does not exist, wrong cursors and wrong limits are refused', async () => {
  const { store } = await withExecutions(1, 5);
  await expect(store.executions('b')).rejects.toThrow(missing);
  await expect(store.revisions('b')).rejects.toThrow(missing);
  expect(await store.loadRevision('b', 1)).toBeUndefined();
  for (const query of [
    { cursor: 'x' },
    { cursor: '-1' },
    { cursor: '1.5' },
    { cursor: '9'.repeat(16) },
    { limit: 0 },
    { limit: 101 },
  ]) {
    await expect(store.executions('a', query)).rejects.toThrow(refused);
    await expect(store.revisions('a', query)).rejects.toThrow(refused);
  }
});
