import { tool } from '@holdfast/core';
import { MemorySessionChannel } from '@holdfast/core/channel';
import { scriptedDriver } from '@holdfast/core/testing';
import { chatHandler } from '@holdfast/ui-ai-sdk/handler';
import type { UIMessage } from 'ai';
import { describe, expect, test } from 'vitest';
import { messageBody, send, sessionOf } from '../../support/chat-requests.ts';
import { chatWorld, OWNER } from '../../support/chat-world.ts';

test('a message is taken once, however often it is sent', async () => {
  await using world = await chatWorld({ driver: scriptedDriver('One.', 'Two.') });
  const body = messageBody('c1', 'm1', 'Hi.');
  await Promise.all([1, 2, 3].map(() => send(world.handler, 'POST', '', { body })));
  await send(world.handler, 'POST', '', { body });
  const messages: UIMessage[] = await world.saved('c1');
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
});

test('a message with an id of the agent is refused, and adds nothing', async () => {
  await using world = await chatWorld({ driver: scriptedDriver('One.', 'Two.') });
  await send(world.handler, 'POST', '', { body: messageBody('c1', 'm1', 'Hi.') });
  const { state } = await world.runtime.get(sessionOf('c1'));
  const { executionId = '' } = state;
  for (const id of [state.messages.last?.id ?? '', executionId, `${executionId}:2`]) {
    const body = messageBody('c1', id, 'Again.');
    for (const each of [body, { ...body, messageId: id }])
      expect((await send(world.handler, 'POST', '', { body: each })).status).toBe(400);
  }
  expect((await world.saved('c1')).length).toBe(2);
});

test('a message cannot carry the tags of the server', async () => {
  await using world = await chatWorld({ driver: scriptedDriver('One.') });
  const metadata = { execution_id: 'e', step_id: 's', agent_id: 'a', is_trace: true, page: 1 };
  const parts = [{ type: 'text', text: 'Hi.' }];
  const message = { id: 'm1', role: 'user', parts, metadata };
  await send(world.handler, 'POST', '', { body: { id: 'c1', trigger: 'submit-message', message } });
  const [stored] = (await world.runtime.get(sessionOf('c1'))).state.messages.toArray();
  expect(Object.keys(stored?.metadata ?? {}).toSorted()).toEqual(['execution_id', 'page']);
  expect(stored?.metadata?.['execution_id']).not.toBe('e');
});

test('a message can have a file', async () => {
  await using world = await chatWorld({ driver: scriptedDriver('Nice.') });
  const file = {
    type: 'file',
    mediaType: 'image/png',
    url: 'data:image/png;base64,AAAA',
    filename: 'a.png',
  };
  const message = { id: 'm1', role: 'user', parts: [file] };
  await send(world.handler, 'POST', '', { body: { id: 'c1', trigger: 'submit-message', message } });
  expect((await world.saved('c1'))[0]?.parts).toEqual([file]);
});

test('a message keeps its data parts, in their places', async () => {
  await using world = await chatWorld({ driver: scriptedDriver('Nice.') });
  const parts = [
    { type: 'data-place', id: 'p1', data: { name: 'Flåm' } },
    { type: 'text', text: 'Here?' },
    { type: 'data-place', data: null },
  ];
  const message = { id: 'm1', role: 'user', parts, metadata: { data_parts: 'forged' } };
  await send(world.handler, 'POST', '', { body: { id: 'c1', trigger: 'submit-message', message } });
  expect((await world.saved('c1'))[0]).toEqual({ id: 'm1', role: 'user', parts });
  const [stored] = (await world.runtime.get(sessionOf('c1'))).state.messages.toArray();
  expect(stored?.content).toEqual([{ type: 'text', text: 'Here?' }]);
});

test('a message can refer to a file that the application accepts', async () => {
  const acceptsFileUrl = ({ host }: URL) => host === 'files.example';
  await using world = await chatWorld({ driver: scriptedDriver('Nice.') }, { handler: { acceptsFileUrl } });
  const sending = (url: string, id: string) => {
    const message = { id, role: 'user', parts: [{ type: 'file', mediaType: 'image/png', url }] };
    return send(world.handler, 'POST', '', { body: { id: 'c1', trigger: 'submit-message', message } });
  };
  expect((await sending('https://files.example/a', 'm1')).status).toBe(200);
  expect((await sending('https://evil.example/a', 'm2')).status).toBe(400);
  expect((await sending('http://files.example/a', 'm3')).status).toBe(400);
});

test('each response of a loaded chat has its usage, unless the application hides it', async () => {
  const driver = scriptedDriver('One.', 'Two.');
  await using world = await chatWorld({ driver });
  for (const id of ['m1', 'm2'])
    await send(world.handler, 'POST', '', { body: messageBody('c1', id, 'Hi.') });
  const metadataOf = ({ status }: { readonly status: string }) => ({ status });
  const { runtime } = world;
  const rest = { runtime, engine: { wake: async () => undefined }, channel: new MemorySessionChannel() };
  const authorize = () => ({ owner: OWNER });
  const hiding = chatHandler({ ...rest, agent: 'guide', authorize, messages: { metadataOf } });
  const metadataFrom = async (handler: typeof hiding): Promise<unknown[]> => {
    const { messages } = (await send(handler, 'GET', '/c1')).json as { readonly messages: UIMessage[] };
    return messages.filter(({ role }) => role === 'assistant').map(({ metadata }) => metadata);
  };
  const all = expect.objectContaining({ status: 'completed', usage: expect.any(Object) as object }) as object;
  expect(await metadataFrom(world.handler)).toEqual([all, all]);
  expect(await metadataFrom(hiding)).toEqual([{ status: 'completed' }, { status: 'completed' }]);
});

describe('content with too many values', () => {
  const many = Object.fromEntries(Array.from({ length: 280_000 }, (_, index) => [`k${index}`, 1]));
  const deep = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);
  const text = { type: 'text', text: 'Hi.' };
  const message = (parts: unknown, metadata?: unknown) => ({ id: 'm1', role: 'user', parts, metadata });

  test.each<[string, object]>([
    ['in the metadata', message([text], many)],
    ['in a member of the metadata', message([text], { own: { many } })],
    ['in a data part', message([text, { type: 'data-place', data: many }])],
    ['as parts', message(Array.from({ length: 20_000 }, () => text))],
    ['as levels of the metadata', message([text], { deep: deep(200) })],
    ['as levels of a data part', message([text, { type: 'data-place', data: deep(2_000) }])],
  ])('is refused %s', async (_, sent) => {
    await using world = await chatWorld({ driver: scriptedDriver() });
    const body = { id: 'c1', trigger: 'submit-message', message: sent };
    const reply = await send(world.handler, 'POST', '', { body });
    expect([reply.status, reply.json]).toMatchObject([413, { error: { code: 'CHAT_BODY_TOO_LARGE' } }]);
    expect((await world.runtime.list()).sessions).toEqual([]);
  });

  test('is refused in an answer, and the call still waits', async () => {
    const ask = tool({ name: 'ask', description: 'Asks.', inputSchema: { type: 'object' } });
    await using world = await chatWorld({
      driver: scriptedDriver({ calls: { ask: {} } }, 'Done.'),
      tools: [ask],
    });
    await send(world.handler, 'POST', '', { body: messageBody('c1', 'm1', 'Ask.') });
    const call = (await world.saved('c1')).at(-1)?.parts.at(-1);
    const answered = { ...call, state: 'output-available', output: many };
    const sent = { id: 'a', role: 'assistant', parts: [answered] };
    const reply = await send(world.handler, 'POST', '', {
      body: { id: 'c1', trigger: 'submit-message', message: sent },
    });
    expect([reply.status, reply.json]).toMatchObject([413, { error: { code: 'CHAT_BODY_TOO_LARGE' } }]);
    expect((await world.runtime.get(sessionOf('c1'))).state.status).toBe('suspended');
  });
});

describe('a request that reads', () => {
  test.each([
    ['a long id', `message=${'m'.repeat(201)}`],
    ['an id with NUL', 'message=m%00'],
    ['a long query', `message=m1&other=${'x'.repeat(4_000)}`],
  ])('is refused with %s', async (_, query) => {
    await using world = await chatWorld({ driver: scriptedDriver() });
    const reply = await send(world.handler, 'GET', `/c1/stream?${query}`);
    expect([reply.status, reply.json]).toMatchObject([400, { error: { code: 'CHAT_REQUEST_INVALID' } }]);
  });

  test('is refused after too many in a minute, and others still count on their own', async () => {
    const limits = { readsPerMinute: 3 };
    await using world = await chatWorld({ driver: scriptedDriver() }, { handler: { limits } });
    const statuses: number[] = [];
    for (const path of ['/c1', '/c1/stream', '/c1/watch', '/c1'])
      statuses.push((await send(world.handler, 'GET', path)).status);
    expect(statuses).toEqual([200, 204, 204, 429]);
    expect((await send(world.handler, 'DELETE', '/c1')).status).toBe(200);
  });
});
