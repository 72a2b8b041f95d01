import { AgentSession, BackedSessionStore, carriedOut, planSave, readSessionRecord } from '@holdfast/core';
import type { SessionBackend, SessionRecord, StoredSession } from '@holdfast/core';
import { describe, expect, test } from 'vitest';
import { START } from '../arbitraries.ts';

const session = AgentSession.create({
  sessionId: 'a',
  definition: { name: 'tester' },
  at: START,
}).withRevision({ incarnation: 'i', version: 1 }, START);
const record: SessionRecord = {
  info: session.info,
  incarnation: 'i',
  writes: 1,
  epoch: 0,
  attempt: 0,
  progress: '',
  inbox: { ids: ['m'], since: START },
};
const sound: StoredSession = {
  record,
  saved: carriedOut(undefined, planSave(session)),
  inbox: new Map([['m', JSON.stringify({ id: 'm', content: 1, enqueuedAt: START })]]),
};

/** A store whose database has just this, and notes down whether it was written to. */
function storeOf(stored: StoredSession): { readonly store: BackedSessionStore; readonly writes: unknown[] } {
  const writes: unknown[] = [];
  const backend: SessionBackend = {
    capabilities: { listing: 'strong', clock: 'client', maxValueBytes: undefined },
    read: async () => stored.record,
    readAll: async () => stored,
    readItems: async () => stored.inbox,
    swap: async (...swap) => writes.push(swap) > 0,
    list: async () => [],
    due: async () => [],
    prune: async () => 0,
    close: async () => undefined,
  };
  return { store: new BackedSessionStore(backend), writes };
}

const { head, values } = sound.saved;

describe('what a store has kept and cannot be read', () => {
  test.each<{ what: string; saved: Partial<StoredSession['saved']>; found: string; code?: string }>([
    { what: 'no JSON', saved: { head: '{' }, found: 'the head' },
    { what: 'a missing value', saved: { values: new Map() }, found: 'the value "definition"' },
    { what: 'another session', saved: { head: head.replace('"a"', '"b"') }, found: 'session "b"' },
    { what: 'a bad value', saved: { values: new Map(values).set('definition', '7') }, found: '$.definition' },
    {
      what: 'a newer format',
      saved: { head: head.replace('agent-session","version":1', 'agent-session","version":99') },
      found: '99',
      code: 'STATE_VERSION',
    },
  ])('$what is told with its session, and nothing is written', async (part) => {
    const { store, writes } = storeOf({ ...sound, saved: { ...sound.saved, ...part.saved } });
    const refusal = {
      name: 'StateFormatError',
      code: part.code ?? 'STATE_FORMAT',
      path: 'session "a"',
      message: expect.stringContaining(part.found),
    };
    await expect(store.load('a')).rejects.toMatchObject(refusal);
    await expect(store.claim('a', { owner: 'w', leaseSeconds: 1 })).rejects.toMatchObject(refusal);
    expect(writes).toEqual([]);
  });

  test.each([
    { what: 'a missing inbox item', inbox: new Map<string, string>() },
    { what: 'an inbox item that is no JSON', inbox: new Map([['m', '{']]) },
  ])('$what is told before the session is claimed', async ({ inbox }) => {
    const { store, writes } = storeOf({ ...sound, inbox });
    await expect(store.claim('a', { owner: 'w', leaseSeconds: 1 })).rejects.toMatchObject({
      code: 'STATE_FORMAT',
      path: 'session "a"',
      message: expect.stringContaining('the inbox item "m"'),
    });
    expect(writes).toEqual([]);
  });

  test('what is sound is claimed', async () => {
    const { store, writes } = storeOf(sound);
    const claimed = await store.claim('a', { owner: 'w', leaseSeconds: 1 });
    expect(claimed.session.info).toEqual(session.info);
    expect(claimed.inbox).toEqual([{ id: 'm', content: 1, enqueuedAt: START }]);
    expect(writes).toHaveLength(1);
  });
});

test('a record that was kept as JSON shows what a list shows, member by member', () => {
  const read = readSessionRecord(JSON.parse(JSON.stringify(record)));
  expect(read).toStrictEqual(record);
  expect(Object.isFrozen(read) && Object.isFrozen(read.info)).toBe(true);
});
