import { AgentSession, AgentState, sendMessage, createAgentLoop, SessionRuntime } from '@holdfast/core';
import type { InspectedSession } from '@holdfast/core/engine';
import { BackedSessionStore } from '@holdfast/core/store';
import { manualClock, scriptedDriver, steppedClock } from '@holdfast/core/testing';
import { expect, test } from 'vitest';
import { WatchedBackend } from '../../support/watched-backend.ts';

const definition = { name: 'helper', systemPrompt: 'Be brief, ü.' };

/** A store, its backend and its clock, with the session `a`. */
async function stored(init: { readonly owner?: string } = {}) {
  const clock = manualClock(1_000);
  const backend = new WatchedBackend();
  const store = new BackedSessionStore(backend, { clock });
  const state = AgentState.empty({ at: 1_000 }).withUserMessage('Grüße 🦊', {}, 1_000);
  await store.create(AgentSession.create({ sessionId: 'a', definition, state, clock, ...init }), {
    expiry: { afterSeconds: 60 },
  });
  return { clock, backend, store };
}

test('an inspection reads the head and the inbox once, and writes nothing', async () => {
  const { backend, store } = await stored();
  await store.enqueue('a', { id: 'i', content: { type: 'message', content: 'Hello' } });
  backend.look();
  const inspected = await store.inspect('a');
  expect(backend.look()).toEqual(['readHead', 'readInbox']);
  expect(inspected).toMatchObject({
    info: { sessionId: 'a', version: 1 },
    claim: undefined,
    attempt: 0,
    dueAt: 1_000,
    expiresAt: 61_000,
    waitingItems: 1,
    inbox: { inbox: [{ id: 'i', position: 0 }], unreadable: [] },
  });
  expect([Object.isFrozen(inspected), Object.isFrozen(inspected.sizes)]).toEqual([true, true]);
});

test('sizes are bytes of UTF-8, and the total is their sum', async () => {
  const { backend, store } = await stored();
  const { sizes } = await store.inspect('a');
  const { content } = (await backend.readSession('a', { extent: () => 'content' })) ?? {};
  const bytes = (texts: Iterable<string>): number => Buffer.byteLength([...texts].join(''));
  const lists = (content?.lists ?? []).map(({ name, append }) => [name, append] as const);
  expect(sizes.headBytes).toBe(bytes([content?.head ?? '']));
  const values = [...(content?.values.values() ?? [])].map(String);
  expect(sizes.valueBytes).toBe(bytes(values));
  expect(sizes.lists).toEqual(
    lists.map(([name, texts]) => ({ name, length: texts.length, bytes: bytes(texts) })),
  );
  expect(sizes.lists).toMatchObject([{ name: 'messages:messages', length: 1 }]);
  const all = [content?.head ?? '', ...values, ...lists.flatMap(([, texts]) => texts)];
  expect(sizes.totalBytes).toBe(bytes(all));
  expect(sizes.totalBytes).toBeGreaterThan(all.join('').length);
});

test('an unreadable item is shown beside the readable ones', async () => {
  const { backend, store } = await stored();
  for (const id of ['i', 'j']) await store.enqueue('a', { id, content: id });
  backend.damage.set(0, '{"version":99}');
  const { inbox, waitingItems } = await store.inspect('a');
  expect([inbox.inbox.map(({ id }) => id), waitingItems]).toEqual([['j'], 2]);
  expect(inbox.unreadable).toMatchObject([{ position: 0, error: { code: 'STATE_VERSION' } }]);
});

test('a head of a release without marks is measured with all of its content', async () => {
  const { backend, store } = await stored();
  const { sizes } = await store.inspect('a');
  await backend.rewriteHead('a', (head) => head.replace(/"marks":\[.*?\],/, ''));
  backend.look();
  expect((await store.inspect('a')).sizes).toMatchObject({
    valueBytes: sizes.valueBytes,
    lists: sizes.lists,
  });
  expect(backend.look()).toEqual(['readHead', 'readSession']);
});

test('an unreadable head is reported with its session', async () => {
  const { backend, store } = await stored();
  await backend.rewriteHead('a', () => '{');
  const error = { code: 'STATE_FORMAT', message: expect.stringContaining('session "a"') as string };
  await expect(store.inspect('a')).rejects.toMatchObject(error);
});

test('a session that has expired, or of another owner, is not found', async () => {
  const missing = expect.objectContaining({ code: 'SESSION_NOT_FOUND' });
  const { clock, store } = await stored({ owner: 'ada' });
  await expect(store.inspect('a', { owner: 'bo' })).rejects.toThrow(missing);
  expect((await store.inspect('a', { owner: 'ada' })).info.owner).toBe('ada');
  clock.advance(60_000);
  await expect(store.inspect('a', { owner: 'ada' })).rejects.toThrow(missing);
});

test('a runtime shows who works on a session, while it works', async () => {
  const { clock, store } = await stored();
  const seen: InspectedSession[] = [];
  const driver = scriptedDriver(async () => {
    seen.push(await runtime.inspect('a'));
    return 'Done.';
  });
  const agents = { helper: createAgentLoop({ driver, clock: steppedClock(5_000) }) };
  const runtime: SessionRuntime = new SessionRuntime({ store, agents, clock, workerName: 'host-7' });
  const { state } = await runtime.execute('a', sendMessage('Hello'));
  expect(state.finalResponse).toBe('Done.');
  const claim = { epoch: 1, until: 31_000, workerId: expect.stringMatching(/^host-7\//) as string };
  expect(seen).toMatchObject([{ claim, attempt: 1, dueAt: 31_000, tools: [] }]);
  expect(await runtime.inspect('a')).toMatchObject({ claim: undefined, attempt: 0, dueAt: undefined });
});

test('a runtime describes and inspects a session without its content, if its agents have names', async () => {
  const { backend, store } = await stored();
  const loop = createAgentLoop({ driver: scriptedDriver('Done.') });
  const options = { store, cacheBytes: 0 };
  const runtime = new SessionRuntime({ ...options, agents: { helper: loop } });
  backend.look();
  expect(await runtime.info('a')).toEqual((await store.list()).sessions[0]);
  expect(await runtime.inspect('a')).toMatchObject({ tools: [] });
  expect(await new SessionRuntime({ ...options, agents: {} }).inspect('a')).toMatchObject({
    tools: undefined,
  });
  expect(backend.look()).toEqual(['readHead', 'readHead', 'readHead']);
  expect(await new SessionRuntime({ ...options, agents: () => loop }).inspect('a')).toMatchObject({
    tools: [],
  });
  expect(backend.look()).toEqual(['readHead', 'readSession']);
});
