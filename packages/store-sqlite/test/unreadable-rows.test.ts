import { DatabaseSync } from 'node:sqlite';
import { AgentSession, StateFormatError } from '@holdfast/core';
import { SqliteSessionStore } from '@holdfast/store-sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { newSession, testClock } from '@holdfast/conformance';

const clock = { ...testClock(), newId: () => 'i' };
let database: DatabaseSync;
let store: SqliteSessionStore;

beforeEach(async () => {
  database = new DatabaseSync(':memory:');
  store = await SqliteSessionStore.from(database, { clock });
});

afterEach(() => {
  database.close();
});

describe('a row that cannot be read', () => {
  const DOCUMENT = JSON.stringify(
    newSession('a').withRevision({ incarnation: 'i', version: 1 }, clock.now()),
  );

  test.each([
    { what: 'no JSON', sql: `document = '{"format"'`, found: 'JSON' },
    { what: 'another kind of document', sql: `document = '{"format":"x","version":1}'`, found: '$.format' },
    {
      what: 'a value out of place',
      sql: `document = json_set(document, '$.status', 'asleep')`,
      found: '$.status',
    },
    { what: 'the document of another version', sql: 'version = 9', found: 'version 1' },
    { what: 'the document of another incarnation', sql: `incarnation = 'j'`, found: 'incarnation' },
    {
      what: 'the document of another session',
      sql: `document = json_set(document, '$.sessionId', 'b')`,
      found: '"b"',
    },
  ])('$what: is told with its session and left as it is', async ({ sql, found }) => {
    await store.create(newSession('a'));
    await store.create(newSession('b'));
    database.exec(`UPDATE sessions SET ${sql} WHERE session_id = 'a'`);
    const before = database.prepare('SELECT * FROM sessions').all();
    const error = await store.load('a').catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(StateFormatError);
    expect(error).toMatchObject({ code: 'STATE_FORMAT', message: expect.stringContaining('session "a"') });
    expect(error).toHaveProperty('message', expect.stringContaining(found));
    await expect(store.load('b')).resolves.toBeInstanceOf(AgentSession);
    await expect(store.exists('a')).resolves.toBe(true);
    expect(database.prepare('SELECT * FROM sessions').all()).toEqual(before);
  });

  test('a newer format is told as such, and a save over it is refused', async () => {
    const created = await store.create(newSession('a'));
    database.exec(`UPDATE sessions SET version = 2, document = json_set(document, '$.version', 99)`);
    await expect(store.load('a')).rejects.toMatchObject({
      code: 'STATE_VERSION',
      message: expect.stringContaining('session "a"'),
      cause: { code: 'STATE_VERSION' },
    });
    await expect(store.save(created)).rejects.toMatchObject({ code: 'SESSION_CONFLICT', kind: 'stale' });
  });

  test.each([
    { what: 'a status', sql: `status = 'asleep'` },
    { what: 'an execution status', sql: `execution_status = 'asleep'` },
    { what: 'an agent name', sql: `agent_name = '"'` },
    { what: 'a parent', sql: `parent_id = ''` },
    { what: 'an id', sql: `session_id = ''` },
  ])('$what that cannot be: lists say so', async ({ sql }) => {
    await store.create(newSession('a'));
    database.exec(`UPDATE sessions SET ${sql}`);
    await expect(store.list()).rejects.toMatchObject({ code: 'STATE_FORMAT' });
  });

  test('the document is the JSON of the session', async () => {
    await store.create(newSession('a'));
    expect(database.prepare('SELECT document FROM sessions').get()).toEqual({ document: DOCUMENT });
  });
});
