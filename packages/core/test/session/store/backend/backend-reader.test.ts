import { AgentSession, StateFormatError } from '@holdfast/core';
import {
  BackedSessionStore,
  applySavePlan,
  planSave,
  readSessionRecord,
  requestedParts,
  type SessionBackend,
  type SessionRecord,
  type StoredItem,
  type StoredSession,
} from '@holdfast/core/store';
import { describe, expect, test } from 'vitest';
import { START } from '../../../support/arbitraries.ts';

const session = AgentSession.create({
  sessionId: 'a',
  definition: { name: 'tester' },
  at: START,
}).withRevision({ incarnation: 'i', version: 1 }, START);
const record: SessionRecord = {
  info: session.info,
  incarnation: 'i',
  writes: 1,
  token: 'AAAABBBBCCCC',
  contentToken: 'AAAABBBBCCCC',
  epoch: 0,
  attempt: 0,
  progress: '',
  lastActiveAt: START,
  inbox: { first: 1, next: 6, gaps: [2, 4], since: START },
};
const sound: StoredSession = { record, content: applySavePlan(undefined, planSave(session)) };

/** An item as stores keep it, with some members exchanged. */
const itemText = (changes: object = {}): string =>
  JSON.stringify({ version: 1, id: 'm', enqueuedAt: START, content: 1, ...changes });

/** The inbox of the record: at 0, 2 and 3 are items that were used. */
const items: readonly StoredItem[] = [0, 1, 2, 3, 4, 5].map((position) => ({
  position,
  json: itemText({ id: `m${position}`, content: position }),
}));

/** A store whose database has just this, and notes down whether it was written to. */
function storeOf(
  stored: StoredSession,
  inbox = items,
): { readonly store: BackedSessionStore; readonly writes: unknown[] } {
  const writes: unknown[] = [];
  const backend: SessionBackend = {
    capabilities: { listing: 'strong', clock: 'client', maxValueBytes: undefined },
    readRecord: async () => stored.record,
    readSession: async (_id, request) => requestedParts(stored, request),
    readPosition: async () => undefined,
    readInbox: async (_id, _incarnation, { from, to, limit }) =>
      inbox.filter(({ position }) => position >= from && position < to).slice(0, limit),
    compareAndSet: async (...swap) => (writes.push(swap), 'done'),
    readArchive: async () => [],
    list: async () => [],
    due: async () => [],
    announce: async () => undefined,
    workers: async () => [],
    prune: async () => 0,
    close: async () => undefined,
  };
  return { store: new BackedSessionStore(backend), writes };
}

const { head, values } = sound.content;

describe('unreadable stored content', () => {
  test.each<{ what: string; saved: Partial<StoredSession['content']>; found: string; code?: string }>([
    { what: 'no JSON', saved: { head: '{' }, found: 'the head' },
    { what: 'a missing value', saved: { values: new Map() }, found: 'the value "definition"' },
    {
      what: 'the head of another version',
      saved: { head: head.replace('"version":1', '"version":2') },
      found: 'the head: expected version 1, found number 2',
    },
    { what: 'a bad value', saved: { values: new Map(values).set('definition', '7') }, found: '$.definition' },
    {
      what: 'a newer format',
      saved: { head: head.replace('agent-session","version":1', 'agent-session","version":99') },
      found: '99',
      code: 'STATE_VERSION',
    },
  ])('$what is reported with its session id, and nothing is written', async (part) => {
    const { store, writes } = storeOf({ ...sound, content: { ...sound.content, ...part.saved } });
    const refusal = {
      name: 'StateFormatError',
      code: part.code ?? 'STATE_FORMAT',
      path: 'session "a"',
      message: expect.stringContaining(part.found),
    };
    await expect(store.load('a')).rejects.toMatchObject(refusal);
    await expect(store.claim('a', { workerId: 'w', leaseSeconds: 1 })).rejects.toMatchObject(refusal);
    expect(writes).toEqual([]);
  });

  test('a sound session is claimed with its waiting items', async () => {
    const { store, writes } = storeOf(sound);
    const claimed = await store.claim('a', { workerId: 'w', leaseSeconds: 1 });
    expect(claimed.session.info).toEqual(session.info);
    expect(claimed.inbox).toEqual(
      [1, 4, 5].map((position) => ({ id: `m${position}`, position, content: position, enqueuedAt: START })),
    );
    expect(claimed.unreadable).toEqual([]);
    expect(writes).toHaveLength(1);
  });
});

test('any number of used items that a backend still returns are skipped', async () => {
  const all = Array.from({ length: 1_000 }, (_, position) => ({
    position,
    json: itemText({ id: `m${position}` }),
  }));
  const inbox = { first: 1, next: 1_000, gaps: [2, 450, 451, 998], since: START };
  const { store } = storeOf({ ...sound, record: { ...record, inbox } }, all);
  const claimed = await store.claim('a', { workerId: 'w', leaseSeconds: 1 });
  expect(claimed.inbox.map(({ position }) => position)).toEqual([1, 450, 998, 999]);
  expect(claimed.unreadable).toEqual([]);
});

describe('an unreadable inbox item', () => {
  const damages = [
    { what: 'gone', json: undefined, path: 'inbox item 4', expected: 'an item', found: 'nothing' },
    { what: 'no JSON', json: '{', path: 'inbox item 4', expected: 'JSON', found: 'string "{"' },
    { what: 'empty', json: '', path: 'inbox item 4', expected: 'JSON', found: 'string ""' },
    {
      what: 'with a whole number that would be rounded',
      json: itemText({}).replace('{', '{"content":12345678901234567890,'),
      path: 'inbox item 4',
      expected: 'whole numbers that a double holds',
      found: '12345678901234567890',
    },
    { what: 'null', json: 'null', path: 'inbox item 4', expected: 'an object', found: 'null' },
    { what: 'a number', json: '7', path: 'inbox item 4', expected: 'an object', found: 'number 7' },
    { what: 'a list', json: '[]', path: 'inbox item 4', expected: 'an object', found: 'an array of 0' },
    { what: '{}', json: '{}', path: '$.version of inbox item 4', expected: 'a version', found: 'nothing' },
    {
      what: 'of no version',
      json: itemText({ version: 0 }),
      path: '$.version of inbox item 4',
      expected: 'a version',
      found: 'number 0',
    },
    {
      what: 'of a newer version',
      json: itemText({ version: 2, id: 7 }),
      path: '$.version of inbox item 4',
      expected: 'version 1, the newest that this release can read',
      found: 'number 2',
      code: 'STATE_VERSION',
    },
    {
      what: 'without an id',
      json: itemText({ id: undefined }),
      path: '$.id of inbox item 4',
      expected: 'a string',
      found: 'nothing',
    },
    {
      what: 'of a time that is none',
      json: itemText({ enqueuedAt: 1.5 }),
      path: '$.enqueuedAt of inbox item 4',
      expected: 'an instant',
      found: 'number 1.5',
    },
    {
      what: 'without content',
      json: itemText({ content: undefined }),
      path: '$.content of inbox item 4',
      expected: 'JSON',
      found: 'nothing',
    },
  ];

  test.each(damages)(
    '$what is returned with its position, and the other items are readable',
    async (damage) => {
      const { json, path, expected, found, code = 'STATE_FORMAT' } = damage;
      const rest = items.filter(({ position }) => position !== 4);
      const { store } = storeOf(sound, json === undefined ? rest : [...rest, { position: 4, json }]);
      const claimed = await store.claim('a', { workerId: 'w', leaseSeconds: 1 });
      expect(claimed.inbox.map(({ id }) => id)).toEqual(['m1', 'm5']);
      expect(claimed.unreadable).toEqual([{ position: 4, error: expect.any(StateFormatError) }]);
      expect(claimed.unreadable[0]?.error).toMatchObject({
        code,
        path,
        message: `Invalid document at ${path}: expected ${expected}, found ${found}.`,
      });
    },
  );
});

test('a record that was stored as JSON has every member that lists show', () => {
  const read = readSessionRecord(JSON.parse(JSON.stringify(record)));
  expect(read).toStrictEqual(record);
  expect(Object.isFrozen(read) && Object.isFrozen(read.info)).toBe(true);
});

test.each([
  { first: 3, next: 2 },
  { first: 0, next: 2, gaps: [1] },
  { first: 0, next: 9, gaps: [4, 5, 2, 3] },
])('a record whose inbox is %j is refused', (inbox) => {
  expect(() => readSessionRecord({ ...record, inbox })).toThrow(
    expect.objectContaining({ code: 'STATE_FORMAT', path: '$.inbox' }),
  );
});
