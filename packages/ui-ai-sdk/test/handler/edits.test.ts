import { createAgentLoop, MemorySessionStore, SessionRuntime } from '@holdfast/core';
import { MemorySessionChannel } from '@holdfast/core/channel';
import { scriptedDriver } from '@holdfast/core/testing';
import { toUIMessages } from '@holdfast/ui-ai-sdk';
import { chatHandler } from '@holdfast/ui-ai-sdk/handler';
import { expect, test } from 'vitest';
import { messageBody, requestOf, sessionOf } from '../support/chat-requests.ts';
import { OWNER } from '../support/chat-world.ts';

const editBody = (id: string, text: string): object => ({ ...messageBody('c1', id, text), messageId: id });

/** A handler whose workers do nothing until `work` is called. */
function idleWorld() {
  const store = new MemorySessionStore();
  const channel = new MemorySessionChannel();
  const loop = createAgentLoop({ driver: scriptedDriver('One.', 'Two.', 'Three.') });
  const runtime = new SessionRuntime({ store, channel, agents: { guide: loop } });
  const engine = { wake: async () => undefined };
  const authorize = () => ({ owner: OWNER });
  const handler = chatHandler({ runtime, engine, channel, agent: 'guide', authorize });
  /** Sends a message, and reads no response to it. */
  const post = async (body: object) => (await handler(requestOf('POST', '?format=events', body))).body;
  const work = () => runtime.advance(sessionOf('c1'));
  const texts = async () =>
    toUIMessages((await runtime.get(sessionOf('c1'))).state).map(({ parts }) =>
      parts.map((part) => ('text' in part ? part.text : part.type)).join(' '),
    );
  return { post, work, texts, runtime };
}

test('a message that waits is edited before a worker reads it', async () => {
  const { post, work, texts } = idleWorld();
  await post(messageBody('c1', 'm1', 'Pay 500.'));
  await post(editBody('m1', 'Pay 5.'));
  await work();
  expect(await texts()).toEqual(['Pay 5.', 'step-start One.']);
});

test('a message that waits is edited once, however often the edit is sent', async () => {
  const { post, work, texts } = idleWorld();
  await post(messageBody('c1', 'm1', 'Pay 500.'));
  for (let attempt = 0; attempt < 3; attempt++) await post(editBody('m1', 'Pay 5.'));
  await work();
  expect(await texts()).toEqual(['Pay 5.', 'step-start One.']);
});

test('the stream of a message ends when the message is gone', async () => {
  const { post, work, runtime } = idleWorld();
  await post(messageBody('c1', 'm1', 'One?'));
  await work();
  const stream = await post(messageBody('c1', 'm2', 'Two?'));
  await runtime.removeItem(sessionOf('c1'), 'm2');
  await post(editBody('m1', 'Three?'));
  const reader = new Response(stream).text();
  await work();
  expect(await reader).toContain('The message is no longer in the chat');
});

test('the stream of a message waits while the message does', async () => {
  const { post, work } = idleWorld();
  const stream = await post(messageBody('c1', 'm1', 'One?'));
  const text = new Response(stream).text();
  await work();
  expect(await text).toContain('"finishReason":"stop"');
});

test('an edit of a message that another page has discarded is a new message', async () => {
  const { post, work, texts } = idleWorld();
  for (const id of ['m1', 'm2']) {
    await post(messageBody('c1', id, `${id}?`));
    await work();
  }
  await post(editBody('m1', 'Three?'));
  for (let attempt = 0; attempt < 2; attempt++) await post(editBody('m2', 'Four?'));
  await work();
  expect((await texts()).filter((text) => text.endsWith('?'))).toEqual(['Three?', 'Four?']);
});

test('an edit counts, although another page has had a response meanwhile', async () => {
  const { post, work, texts } = idleWorld();
  await post(messageBody('c1', 'm1', 'One?'));
  await work();
  await post({ ...editBody('m1', 'Two?'), replaces: 'an-earlier-execution' });
  await work();
  expect(await texts()).toEqual(['Two?', 'step-start Two.']);
});
