import { newSession, withFact } from '@holdfast/conformance';
import { AgentState, userMessage, type AgentSession } from '@holdfast/core';
import { RedisSessionStore } from '@holdfast/store-redis';
import { beforeEach, expect, test } from 'vitest';
import { newPrefix, observed, testServer } from '../support/harness.ts';

const redis = testServer();
/** The store of another writer. */
let writer: RedisSessionStore;
/** The store that reads. The test calls a function before each of its requests. */
let reader: RedisSessionStore;
let latest: AgentSession;
let requests: number;
let happens: (nth: number) => Promise<unknown>;

beforeEach(async () => {
  const prefix = newPrefix();
  requests = 0;
  happens = async () => undefined;
  const client = observed(redis.client, async (what) => {
    if (what === 'read') await happens(++requests);
  });
  writer = new RedisSessionStore({ client: redis.client, prefix });
  reader = new RedisSessionStore({ client, prefix });
  const messages = ['one', 'two', 'three'].map((text) => userMessage(text));
  latest = await writer.create(newSession('a', { state: AgentState.empty().withMessages(messages) }));
});

async function saveNext(): Promise<void> {
  latest = await writer.save(withFact(latest, 'n', latest.version), { base: latest });
}

/** Saves a session with another last message. */
async function saveOther(): Promise<void> {
  const { state } = latest;
  const other = state.withMessages([...state.messages.slice(0, 2), userMessage('other')]);
  latest = await writer.save(latest.withState(other), { base: latest });
}

test('a session that is saved between the requests for it is read again', async () => {
  happens = async (nth) => nth === 2 && saveOther();
  const loaded = await reader.load('a');
  expect(loaded).toEqual(latest);
  expect(latest.version).toBe(2);
  expect(requests).toBe(4);
});

test('the content of a session is read once if only its record changes between the requests', async () => {
  happens = async (nth) => nth === 2 && writer.enqueue('a', { id: 'i', content: 1 });
  const loaded = await reader.load('a');
  expect(loaded).toEqual(latest);
  expect(requests).toBe(3);
  // After this read of the current record, the next save is one request.
  requests = 0;
  await reader.save(withFact(latest, 'n', 1), { base: loaded });
  expect(requests).toBe(0);
});

test('a session that is saved before every request is read in one transaction', async () => {
  happens = saveNext;
  const loaded = await reader.load('a');
  expect(loaded).toEqual(latest);
  expect(requests).toBe(5); // record and content twice, then the record; the content comes in a transaction
});

test('a session that is deleted between the requests for it is absent', async () => {
  happens = async (nth) => nth === 2 && writer.delete('a');
  await expect(reader.load('a')).resolves.toBeUndefined();
});

test('a session that is created again between the requests for it is read as the new session', async () => {
  happens = async (nth) => {
    if (nth !== 2) return;
    await writer.delete('a');
    latest = await writer.create(newSession('a'));
  };
  const loaded = await reader.load('a');
  expect(loaded).toEqual(latest);
});

/** The number of elements of a list that come with the record. */
const NEXT = 16;

const say = (state: AgentState, count: number): AgentState =>
  Array.from({ length: count }).reduce<AgentState>(
    (said, _, at) => said.withUserMessage(`New ${at}.`),
    state,
  );

test.each<[string, (state: AgentState) => AgentState, number]>([
  ['without changes', (state) => state, 1],
  ['after a message', (state) => say(state, 1), 1],
  ['after as many messages as come with the record', (state) => say(state, NEXT), 1],
  ['after more messages', (state) => say(state, NEXT + 1), 2],
  ['after a changed value', (state) => state.withMetadata('n', 1), 2],
  // The store reads the replaced message, and then all: the last message that it knows is another one.
  ['after an edit and a message', (state) => say(state.withMessages(state.messages.slice(0, 2)), 2), 3],
])('a base is read %s in the fewest requests', async (_, change, expected) => {
  const base = await reader.load('a');
  latest = await writer.save(latest.withState(change(latest.state)), { base: latest });
  requests = 0;
  const loaded = await reader.load('a', { base });
  expect(loaded?.toJSON()).toEqual(latest.toJSON());
  expect(requests).toBe(expected);
});

test('what comes with the record is read again when another writer changes it before the rest is read', async () => {
  const base = await reader.load('a');
  latest = await writer.save(latest.withState(say(latest.state, NEXT + 1)), { base: latest });
  requests = 0;
  happens = async (nth) => {
    if (nth !== 2) return;
    const others = [...latest.state.messages.slice(0, -3), ...say(AgentState.empty(), 5).messages];
    latest = await writer.save(latest.withState(latest.state.withMessages(others)), { base: latest });
  };
  const loaded = await reader.load('a', { base });
  expect(loaded?.toJSON()).toEqual(latest.toJSON());
  expect(requests).toBe(4);
});
