import { once } from 'node:events';
import { tool } from '@holdfast/core';
import type { Driver } from '@holdfast/core/driver';
import { scriptedDriver } from '@holdfast/core/testing';
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type UIMessageChunk,
} from 'ai';
import { expect, test, vi } from 'vitest';
import { messageBody, requestOf, send } from '../support/chat-requests.ts';
import { chatWorld } from '../support/chat-world.ts';
import { PATIENCE } from '../support/patience.ts';
import { TestChat } from '../support/test-chat.ts';

test('a long text comes in small pieces, and each character as a whole', async () => {
  // Between the quotation marks, the pairs of surrogates begin at odd indexes in some pieces and at even ones in others.
  const text = `${'😀'.repeat(100_000)}"${'😀'.repeat(100_000)}`;
  await using world = await chatWorld({
    driver: scriptedDriver({ content: [{ type: 'text', text }] }),
  });
  const response = await world.handler(requestOf('POST', '', messageBody('c1', 'm1', 'Smile.')));
  const pieces: Uint8Array[] = [];
  for await (const piece of response.body ?? []) pieces.push(piece);
  const largest = Math.max(...pieces.map(({ byteLength }) => byteLength));
  expect(largest).toBeLessThan(200_000);
  expect(deltas(Buffer.concat(pieces).toString())).toBe(text);
});

test('a page with the default transport decides, and its message continues', async () => {
  const inputSchema = { type: 'object' };
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    inputSchema,
    needsApproval: true,
    execute: () => 'paid',
  });
  const driver = scriptedDriver({ calls: [['pay', {}]] }, { calls: [['pay', {}]] }, 'It is paid.');
  const handler = { mayDecide: () => true };
  await using world = await chatWorld({ driver, tools: [pay] }, { handler });
  const chat = new TestChat({
    id: 'c1',
    transport: new DefaultChatTransport({ api: `${world.server.url}/api/chat` }),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  await chat.sendMessage({ text: 'Pay twice.' });
  for (const index of [1, 3]) {
    const part = chat.messages.at(-1)?.parts[index];
    if (!part || !('approval' in part)) throw new Error('The call does not wait for approval.');
    await chat.addToolApprovalResponse({ id: part.approval?.id ?? '', approved: true });
    await vi.waitFor(() => expect(chat.status).toBe('ready'), PATIENCE);
    await vi.waitFor(async () => expect(chat.messages).toEqual(await world.saved('c1')), PATIENCE);
  }
  expect(chat.messages.at(-1)?.parts.at(-1)).toMatchObject({ text: 'It is paid.' });
});

test('the stream of a message has its response, also after the end', async () => {
  await using world = await chatWorld({ driver: scriptedDriver('Take the train.', 'At nine.') });
  await send(world.handler, 'POST', '', { body: messageBody('c1', 'm1', 'How?') });
  await send(world.handler, 'POST', '', { body: messageBody('c1', 'm2', 'When?') });
  const stream = (query: string) => send(world.handler, 'GET', `/c1/stream${query}`);
  const { json: first } = await stream('?message=m1');
  expect(first).toMatch(/^(?!.*At nine)[^]*"delta":"Take the train\."[^]*"type":"finish"/);
  const { json: second } = await stream('?message=m2');
  expect(second).toMatch(/^(?!.*Take the train)[^]*"delta":"At nine\."[^]*"finishReason":"stop"/);
  const { messageId } = JSON.parse(/\{"type":"start".*\}/.exec(String(second))?.[0] ?? '') as {
    messageId: string;
  };
  expect((await stream(`?message=${messageId}`)).json).toBe(second);
  expect(await stream('')).toEqual({ status: 204, json: '' });
  expect((await stream('?message=unknown')).json).not.toContain('delta');
});

test('a page learns that its chat was deleted before the response has begun', async () => {
  const begun = Promise.withResolvers<void>();
  const driver: Driver = {
    infer: async (_, { signal }) => {
      begun.resolve();
      await once(signal, 'abort');
      return { content: [], finishReason: 'aborted' };
    },
  };
  await using world = await chatWorld({ driver });
  const page = world.page('c1');
  const sent = page.chat.sendMessage({ text: 'Hi.' });
  await begun.promise;
  await page.transport.delete('c1');
  await sent;
  await vi.waitFor(() => expect(page.chat.messages).toEqual([]), PATIENCE);
  expect((await world.runtime.list()).sessions).toEqual([]);
});

/** Returns the text of a stream of chunks. */
function deltas(stream: string): string {
  const events = stream.split('\n\n').filter((event) => event.startsWith('data: {'));
  const chunks = events.map((event) => JSON.parse(event.slice('data: '.length)) as UIMessageChunk);
  return chunks.map((chunk) => (chunk.type === 'text-delta' ? chunk.delta : '')).join('');
}
