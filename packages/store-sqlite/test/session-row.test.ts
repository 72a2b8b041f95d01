import { DatabaseSync } from 'node:sqlite';
import { AgentSession, StateFormatError } from '@holdfast/core';
import { SqliteSessionStore } from '@holdfast/store-sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { newSession, testClock } from '@holdfast/conformance';

const ID = '10000000-0000-4000-8000-000000000000';
const clock = { ...testClock(), newId: () => ID };
let database: DatabaseSync;
let store: SqliteSessionStore;

beforeEach(async () => {
  database = new DatabaseSync(':memory:');
  store = new SqliteSessionStore({ database, clock });
});

afterEach(() => {
  database.close();
});

/** Creates two sessions, each with two messages and an item in its inbox. */
async function createTwo(): Promise<void> {
  for (const id of ['a', 'b']) {
    const session = newSession(id);
    const state = ['Hello', 'And?'].reduce(
      (before, text, index) =>
        before.withUserMessage(text, { id: `20000000-0000-4000-8000-00000000000${index}` }, clock.now()),
      session.state,
    );
    await store.create(session.withState(state));
    await store.enqueue(id, { id: 'item', content: 1 });
  }
}

/** All rows of the database. */
function content(): unknown[] {
  const tables = ['sessions', 'session_values', 'session_lists', 'session_inbox'];
  return tables.map((table) => database.prepare(`SELECT * FROM ${table}`).all());
}

const OF_A = `session_key = (SELECT session_key FROM sessions WHERE session_id = 'a')`;
const setRow = (sql: string): string => `UPDATE sessions SET ${sql} WHERE session_id = 'a'`;

const IN_ROW: readonly { readonly what: string; readonly sql: string; readonly found: string }[] = [
  { what: 'a record that is not JSON', sql: `record = '{"info"'`, found: 'JSON' },
  { what: 'a record of another format', sql: `record = '{"format":"x","version":1}'`, found: 'format' },
  {
    what: 'a record with an invalid value',
    sql: `record = json_set(record, '$.info.status', 'asleep')`,
    found: '$.info.status',
  },
  {
    what: 'the record of another write',
    sql: `record_name = '9.' || substr(record_name, 3)`,
    found: 'record 9.',
  },
  {
    what: 'the record of another write with the same number',
    sql: `record = json_set(record, '$.token', 'other')`,
    found: `record 2.other.${ID}`,
  },
  {
    what: 'the record of another incarnation',
    sql: `record = json_set(record, '$.incarnation', 'j')`,
    found: '.j',
  },
  {
    what: 'the record of another session',
    sql: `record = json_set(record, '$.info.sessionId', 'b')`,
    found: '"b"',
  },
];

const IN_CONTENT: readonly { readonly what: string; readonly sql: string; readonly found: string }[] = [
  { what: 'a head that is not JSON', sql: setRow(`head = '{"version"'`), found: 'the head' },
  {
    what: 'the head of another version',
    sql: setRow(`head = json_set(head, '$.version', 9)`),
    found: 'version 1',
  },
  {
    what: 'a head without a state',
    sql: setRow(`head = json_remove(head, '$.document.state')`),
    found: 'the head',
  },
  { what: 'a missing value', sql: `DELETE FROM session_values WHERE ${OF_A}`, found: 'definition' },
  {
    what: 'an invalid value',
    sql: `UPDATE session_values SET content = '7' WHERE ${OF_A}`,
    found: '$.definition',
  },
  {
    what: 'a value with an invalid name',
    sql: `UPDATE session_values SET name = '"' WHERE ${OF_A}`,
    found: 'the value "definition": expected a stored part, found nothing',
  },
  {
    what: 'a list without its last element',
    sql: `DELETE FROM session_lists WHERE ${OF_A} AND position = 1`,
    found: '2 elements',
  },
  {
    what: 'a list without its first element',
    sql: `DELETE FROM session_lists WHERE ${OF_A} AND position = 0`,
    found: 'element 0',
  },
  {
    what: 'a list with a gap and an element too many',
    sql: `UPDATE session_lists SET position = 5 WHERE ${OF_A} AND position = 1`,
    found: 'element 5',
  },
  {
    what: 'a list with an invalid name',
    sql: `UPDATE session_lists SET name = '"' WHERE ${OF_A}`,
    found: '2 elements',
  },
  {
    what: 'an element that is not JSON',
    sql: `UPDATE session_lists SET content = '{' WHERE ${OF_A} AND position = 1`,
    found: 'element 1 of',
  },
];

/**
 * Expects that a load and a claim of session "a" are refused with its id and with `found`, that session "b" can be loaded,
 * and that no row changes.
 */
async function expectRefusal(found: string): Promise<void> {
  const before = content();
  const claim = { workerId: 'worker', leaseSeconds: 1 };
  for (const call of [() => store.load('a'), () => store.claim('a', claim)]) {
    const error = await call().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(StateFormatError);
    expect(error).toMatchObject({ code: 'STATE_FORMAT', message: expect.stringContaining('session "a"') });
    expect(error).toHaveProperty('message', expect.stringContaining(found));
  }
  await expect(store.load('b')).resolves.toBeInstanceOf(AgentSession);
  expect(content()).toEqual(before);
}

describe('an unreadable row', () => {
  test.each(IN_ROW)('$what is reported with its session and stays unchanged', async ({ sql, found }) => {
    await createTwo();
    for (const id of ['a', 'b']) await store.enqueue(id, { id: 'item', content: 1 });
    database.exec(setRow(sql));
    await expectRefusal(found);
    const refusal = { code: 'STATE_FORMAT', message: expect.stringContaining('session "a"') };
    await expect(store.exists('a')).rejects.toMatchObject(refusal);
    await expect(store.enqueue('a', { id: 'next', content: 1 })).rejects.toMatchObject(refusal);
    for (const page of [await store.list(), await store.due()]) {
      expect(page.sessions.map(({ sessionId }) => sessionId)).toEqual(['b']);
      expect(page.unreadable).toEqual([{ sessionId: 'a', error: expect.objectContaining(refusal) }]);
    }
  });

  test.each(['owner', 'status', 'agent_name', 'created_at', 'due_at'])(
    'a record that its column %s does not repeat is unreadable in lists',
    async (column) => {
      await createTwo();
      await store.enqueue('a', { id: 'item', content: 1 });
      database.exec(setRow(`${column} = 7`));
      const owned = await store.list({ owner: '7' });
      expect(owned.sessions).toEqual([]);
      expect(owned.unreadable.map(({ sessionId }) => sessionId)).toEqual(column === 'owner' ? ['a'] : []);
      const page = column === 'due_at' ? await store.due() : await store.list({ agentName: 'tester' });
      expect(page.sessions.map(({ sessionId }) => sessionId)).not.toContain(
        column === 'created_at' ? 'a' : '',
      );
      await expect(store.load('a')).resolves.toBeInstanceOf(AgentSession);
    },
  );

  test('a newer format is reported as newer, and a save that would replace it is refused', async () => {
    const created = await store.create(newSession('a'));
    database.exec(`UPDATE sessions SET record_name = '2' || substr(record_name, 2),
      record = json_set(record, '$.writes', 2, '$.info.version', 2),
      head = json_set(head, '$.version', 2, '$.document.version', 99)`);
    await expect(store.load('a')).rejects.toMatchObject({
      code: 'STATE_VERSION',
      message: expect.stringContaining('session "a"'),
      cause: { code: 'STATE_VERSION' },
    });
    await expect(store.save(created)).rejects.toMatchObject({ code: 'SESSION_CONFLICT', kind: 'stale' });
    await expect(store.save(created, { base: created })).rejects.toMatchObject({ kind: 'stale' });
  });

  test('that a person deletes takes its content with it', async () => {
    await createTwo();
    database.exec(`DELETE FROM sessions WHERE session_id = 'a'; UPDATE sessions SET session_id = session_id`);
    expect(content().map((rows) => (Array.isArray(rows) ? rows.length : 0))).toEqual([1, 1, 2, 1]);
    await expect(store.load('b')).resolves.toBeInstanceOf(AgentSession);
  });
});

test('a session whose record cannot be read can be deleted, with all that belongs to it', async () => {
  await createTwo();
  database.exec(setRow(`record = '{"info"'`));
  const { revision } = newSession('a');
  await expect(store.delete('a', { revision })).rejects.toMatchObject({ code: 'STATE_FORMAT' });
  await expect(store.delete('a')).resolves.toBe(true);
  await expect(store.delete('a')).resolves.toBe(false);
  expect(content().map((rows) => (Array.isArray(rows) ? rows.length : 0))).toEqual([1, 1, 2, 1]);
  await expect(store.list()).resolves.toHaveProperty('sessions.length', 1);
});

test('an announcement that cannot be read is omitted, and hides no other worker', async () => {
  for (const workerName of ['Ada', 'Bo', 'Cy'])
    await store.announce({ workerName, since: 0, sessionIds: [] }, 60);
  database.exec(`UPDATE workers SET content = '{' WHERE worker_name = 'Ada';
    UPDATE workers SET content = json_set(content, '$.newer', 1) WHERE worker_name = 'Bo'`);
  expect((await store.workers()).map(({ workerName }) => workerName)).toEqual(['Cy']);
});

describe('unreadable content', () => {
  test.each(IN_CONTENT)('$what is reported with its session and stays unchanged', async ({ sql, found }) => {
    await createTwo();
    database.exec(sql);
    await expectRefusal(found);
    await expect(store.exists('a')).resolves.toBe(true);
    await expect(store.list()).resolves.toHaveProperty('sessions.length', 2);
    await expect(store.delete('a')).resolves.toBe(true);
  });

  test.each(['DELETE FROM session_inbox', `UPDATE session_inbox SET content = '{'`])(
    'an item of the inbox, %s: is told by its position, and the session can be claimed',
    async (sql) => {
      await createTwo();
      database.exec(`${sql} WHERE ${OF_A}`);
      const [, , , inbox] = content();
      const { unreadable, inbox: readable } = await store.claim('a', { workerId: 'worker', leaseSeconds: 1 });
      expect(readable).toEqual([]);
      expect(unreadable).toEqual([
        {
          position: 0,
          error: expect.objectContaining({
            code: 'STATE_FORMAT',
            message: expect.stringContaining('inbox item 0'),
          }),
        },
      ]);
      expect(content()[3]).toEqual(inbox);
      expect((await store.claim('b', { workerId: 'worker', leaseSeconds: 1 })).unreadable).toEqual([]);
    },
  );
});
