import { AgentSession, userMessage } from '@holdfast/core';
import { BackedSessionStore, type ItemRange, type StoredItem } from '@holdfast/core/store';
import { describe, expect, test } from 'vitest';
import { MemoryBackend } from '../../../src/session/store/memory-session-store.ts';

const sessionId = 's';

function newSession(): AgentSession {
  return AgentSession.create({ definition: { name: 'helper' }, sessionId });
}

/** A backend with a limit of sizes, damaged archives, and something that happens between two reads. */
class OddBackend extends MemoryBackend {
  override readonly capabilities = { listing: 'strong', clock: 'client', maxValueBytes: 3_000 } as const;
  isDamaged = false;
  largest = 0;
  afterPosition: (() => Promise<void>) | undefined;

  override async readPosition(...args: [string, string, string]): Promise<number | undefined> {
    const position = await super.readPosition(...args);
    const { afterPosition } = this;
    this.afterPosition = undefined;
    await afterPosition?.();
    return position;
  }

  override async readArchive(...args: [string, string, string, ItemRange]): Promise<readonly StoredItem[]> {
    const entries = await super.readArchive(...args);
    return this.isDamaged ? entries.map((entry) => ({ ...entry, json: '{"info":' })) : entries;
  }

  override compareAndSet(
    ...args: Parameters<MemoryBackend['compareAndSet']>
  ): ReturnType<MemoryBackend['compareAndSet']> {
    for (const { put } of args[3].archives ?? [])
      for (const { json } of put) this.largest = Math.max(this.largest, Buffer.byteLength(json));
    return super.compareAndSet(...args);
  }
}

describe('kept revisions', () => {
  test('begin anew with a save that discards more than the store accepts in one value', async () => {
    const backend = new OddBackend();
    const store = new BackedSessionStore(backend, { keptRevisions: 10 });
    let session = await store.create(newSession());
    const save = async (messages: Parameters<AgentSession['state']['withMessages']>[0]): Promise<void> => {
      const changed = session.withState(session.state.withMessages(messages));
      session = await store.save(changed, { base: session });
    };
    for (const letter of ['ä', 'b', 'c'])
      await save(session.state.messages.append(userMessage(letter.repeat(1_000))));
    expect((await store.revisions(sessionId)).revisions.map(({ version }) => version)).toEqual([4, 3, 2, 1]);
    await save(session.state.messages.slice(0, 2));
    expect((await store.revisions(sessionId)).revisions).toHaveLength(5);
    await save(session.state.messages.slice(0, 0));
    await save(session.state.messages.append(userMessage('again')));
    const { revisions } = await store.revisions(sessionId);
    expect(revisions.map(({ version }) => version)).toEqual([7, 6]);
    expect((await store.loadRevision(sessionId, 6))?.state.messages).toHaveLength(0);
    expect(await store.loadRevision(sessionId, 5)).toBeUndefined();
    expect(backend.largest).toBeLessThanOrEqual(3_000);
  });

  test('that are damaged are reported as unreadable', async () => {
    const backend = new OddBackend();
    const store = new BackedSessionStore(backend, { keptRevisions: 10 });
    const session = await store.create(newSession());
    await store.save(session.withDescription({ title: 'Title' }), { base: session });
    backend.isDamaged = true;
    const { revisions, unreadable } = await store.revisions(sessionId);
    expect(revisions).toEqual([]);
    expect(unreadable).toMatchObject([
      { position: 2, error: { code: 'STATE_FORMAT' } },
      { position: 1, error: { code: 'STATE_FORMAT' } },
    ]);
    await expect(store.loadRevision(sessionId, 1)).rejects.toMatchObject({ code: 'STATE_FORMAT' });
  });
});

test('an item of a session that was created again meanwhile is not removed', async () => {
  const backend = new OddBackend();
  const store = new BackedSessionStore(backend);
  await store.create(newSession());
  await store.enqueue(sessionId, { id: 'first', content: 'First.' });
  backend.afterPosition = async () => {
    await store.delete(sessionId);
    await store.create(newSession());
    await store.enqueue(sessionId, { id: 'second', content: 'Second.' });
  };
  expect(await store.removeItem(sessionId, 'first')).toBe(false);
  expect((await store.inspect(sessionId)).inbox.inbox).toMatchObject([{ id: 'second' }]);
});
