import { AgentSession, MemorySessionStore, MessageStore } from '@holdfast/core';
import { BackedSessionStore, type SessionBackend } from '@holdfast/core/store';
import { expect, test } from 'vitest';
import { MemoryBackend } from '../../../src/session/store/memory-session-store.ts';
import { knownSize } from '../../../src/session/store/content/written-parts.ts';
import { START } from '../../support/arbitraries.ts';

const LEASE = { workerId: 'Ada', leaseSeconds: 60 };
const newSession = (): AgentSession =>
  AgentSession.create({ sessionId: 'a', definition: { name: 'tester' }, at: START });

/** A store that counts how often it reads a record. */
function countingStore(): { readonly store: BackedSessionStore; readonly reads: () => number } {
  let reads = 0;
  class CountingBackend extends MemoryBackend {
    override readRecord(sessionId: string): ReturnType<SessionBackend['readRecord']> {
      reads++;
      return super.readRecord(sessionId);
    }
  }
  return { store: new BackedSessionStore(new CountingBackend()), reads: () => reads };
}

test('a stored session is refused as a new one, and the error says how to copy it', async () => {
  const stored = await new MemorySessionStore().create(newSession());
  const other = new MemorySessionStore();
  await expect(other.create(stored)).rejects.toThrow(
    'A new session must have version 0, found 1. To copy a session, pass its members to AgentSession.create.',
  );
  const { sessionId, definition, state } = stored;
  const copy = await other.create(AgentSession.create({ sessionId, definition, state }));
  expect([copy.version, copy.state]).toEqual([1, state]);
});

test('a save after a renewal with its base reads no record', async () => {
  const { store, reads } = countingStore();
  const base = await store.create(newSession());
  const { session, claim } = await store.claim('a', { ...LEASE, base });
  await store.renew(claim, { leaseSeconds: 60, base: session });
  const before = reads();
  const next = session.withState(session.state.withSystemPrompt('Be brief.', START));
  await store.save(next, { base: session, epoch: claim.epoch });
  expect(reads()).toBe(before);
});

test('a renewal with an outdated base does not mark the base as current', async () => {
  const { store } = countingStore();
  const base = await store.create(newSession());
  const { session, claim } = await store.claim('a', { ...LEASE, base });
  const next = session.withState(session.state.withSystemPrompt('Be brief.', START));
  await store.save(next, { base: session, epoch: claim.epoch });
  await store.renew(claim, { leaseSeconds: 60, base: session });
  await expect(store.load('a', { base: session })).resolves.toMatchObject({ version: 2 });
  const stale = store.save(next, { base: session, epoch: claim.epoch });
  await expect(stale).rejects.toMatchObject({ code: 'SESSION_CONFLICT', kind: 'stale' });
});

test.each([1.5, -2, Number.NaN, '1'])('a renewal with after: %s is refused', async (after) => {
  const store = new MemorySessionStore();
  await store.create(newSession());
  const { claim } = await store.claim('a', LEASE);
  const renewal = store.renew(claim, { leaseSeconds: 60, after: after as number });
  await expect(renewal).rejects.toMatchObject({ code: 'ARGUMENT_INVALID' });
});

test('the known size of a session follows replaced values and truncated lists', async () => {
  const store = new MemorySessionStore();
  let session = await store.create(newSession());
  const empty = knownSize(session) ?? Number.NaN;
  for (let count = 0; count < 20; count++) {
    const state = session.state
      .withMetadata('text', 'x'.repeat(1_000), START)
      .withMetadata('count', count, START);
    session = await store.save(session.withState(state), { base: session });
  }
  expect((knownSize(session) ?? Number.NaN) - empty).toBeLessThan(1_500);
  const long = session.state.withUserMessage('y'.repeat(5_000), undefined, START);
  session = await store.save(session.withState(long), { base: session });
  expect((knownSize(session) ?? Number.NaN) - empty).toBeGreaterThan(6_000);
  const cut = session.state.withMessageStore(MessageStore.empty, START);
  session = await store.save(session.withState(cut), { base: session });
  expect((knownSize(session) ?? Number.NaN) - empty).toBeLessThan(1_500);
});

test('the pages of executions end for a cursor behind the last execution too', async () => {
  const store = new MemorySessionStore();
  await store.create(AgentSession.create({ sessionId: 'a', definition: { name: 'tester' } }));
  const page = await store.executions('a', { cursor: '99999999999' });
  expect(page).toEqual({ executions: [], unreadable: [], cursor: undefined });
});
