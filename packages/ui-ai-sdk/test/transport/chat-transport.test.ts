import { tool } from '@holdfast/core';
import type { Driver } from '@holdfast/core/driver';
import { scriptedDriver } from '@holdfast/core/testing';
import type { UIMessage } from 'ai';
import { expect, test, vi } from 'vitest';
import { chatWorld, type TestPage } from '../support/chat-world.ts';
import { PATIENCE } from '../support/patience.ts';

const textsOf = (messages: readonly UIMessage[]): string[] =>
  messages.map(
    ({ role, parts }) =>
      `${role}: ${parts.map((part) => ('text' in part ? part.text : part.type)).join('|')}`,
  );

/** Waits until a page shows what is expected. */
async function shows(page: TestPage, texts: readonly string[]): Promise<void> {
  await vi.waitFor(() => expect(textsOf(page.chat.messages)).toEqual(texts), PATIENCE);
}

test('a message is answered, and both pages of the chat show the same', async () => {
  await using world = await chatWorld({ driver: scriptedDriver('Take the train.') });
  const [one, other] = [world.page('c1'), world.page('c1')];
  await one.chat.sendMessage({ text: 'How do I get to Flåm?' });
  expect(textsOf(one.chat.messages)).toEqual([
    'user: How do I get to Flåm?',
    'assistant: step-start|Take the train.',
  ]);
  expect(one.chat.messages).toEqual(await world.saved('c1'));
  await other.transport.load('c1');
  await shows(other, textsOf(one.chat.messages));
});

test('a page waits for the first message of its chat, without an error in its console', async () => {
  await using world = await chatWorld({ driver: scriptedDriver('Take the train.') });
  const statuses: number[] = [];
  const recorded: typeof fetch = async (...request) => {
    const response = await fetch(...request);
    statuses.push(response.status);
    return response;
  };
  const idle = world.page('c1', {}, { fetch: recorded });
  await vi.waitFor(() => expect(statuses).toHaveLength(2), PATIENCE); // load and watch
  const { chat } = world.page('c1');
  await chat.sendMessage({ text: 'How do I get to Flåm?' });
  await shows(idle, textsOf(chat.messages));
  expect(statuses.filter((status) => status >= 400)).toEqual([]);
});

test('an approval in the page lets the tool run', async () => {
  const paid: string[] = [];
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: { type: 'object' },
    needsApproval: true,
    execute: () => (paid.push('paid'), 'paid'),
  });
  const driver = scriptedDriver({ calls: [['pay', { amount: 5 }]] }, 'It is paid.');
  const handler = { mayDecide: () => true };
  await using world = await chatWorld({ driver, tools: [pay] }, { handler });
  const { chat } = world.page('c1');
  await chat.sendMessage({ text: 'Pay.' });
  const [part] = chat.messages.at(-1)?.parts.slice(-1) ?? [];
  expect(part).toMatchObject({ type: 'tool-pay', state: 'approval-requested' });
  const { approval } = part as { approval: { id: string } };
  await chat.addToolApprovalResponse({ id: approval.id, approved: true });
  await vi.waitFor(() => expect(chat.status).toBe('ready'), PATIENCE);
  await vi.waitFor(() => expect(textsOf(chat.messages).at(-1)).toContain('It is paid.'), PATIENCE);
  expect(paid).toEqual(['paid']);
  expect(chat.messages).toEqual(await world.saved('c1'));
});

test('a page answers a call that began before it was open, once', async () => {
  const zone = tool({ name: 'zone', description: 'Returns the zone.', inputSchema: { type: 'object' } });
  await using world = await chatWorld({
    driver: scriptedDriver({ calls: { zone: {} } }, 'It is noon.'),
    tools: [zone],
  });
  const early = world.page('c1');
  await early.chat.sendMessage({ text: 'What time is it?' });
  early.close();
  const asked: string[] = [];
  const late = world.page('c1', {
    async onToolCall({ toolCall: { toolName, toolCallId } }) {
      asked.push(toolName);
      void late.chat.addToolOutput({ tool: toolName, toolCallId, output: { zone: 'UTC' } });
    },
  });
  await shows(late, ['user: What time is it?', 'assistant: step-start|tool-zone|step-start|It is noon.']);
  expect(asked).toEqual(['zone']);
  expect(late.chat.messages).toEqual(await world.saved('c1'));
});

test('a stream continues after each connection is cut', async () => {
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const words = ['Take ', 'the ', 'train.'];
  await using world = await chatWorld({
    driver: {
      async infer(_, { onDelta }) {
        for (const [index, text] of words.entries()) {
          onDelta?.({ type: 'text', id: 't', text });
          await gates[index]?.promise;
        }
        return { content: [{ type: 'text', text: words.join('') }] };
      },
    },
  });
  const page = world.page('c1');
  const sent = page.chat.sendMessage({ text: 'How?' });
  await shows(page, ['user: How?', 'assistant: step-start|Take ']);
  world.server.cut();
  gates[0]?.resolve();
  await shows(page, ['user: How?', 'assistant: step-start|Take the ']);
  world.server.cut();
  gates[1]?.resolve();
  await sent;
  expect(page.chat.status).toBe('ready');
  expect(page.chat.messages).toEqual(await world.saved('c1'));
});

test('a response that failed before its first part can be regenerated', async () => {
  await using world = await chatWorld({
    driver: scriptedDriver('Hello.', new Error('out of order'), 'Take the train.'),
    inferenceRetry: { maxElapsedSeconds: 0, onExhausted: 'fail' },
  });
  const { chat } = world.page('c1', { onError: () => undefined });
  await chat.sendMessage({ text: 'Hi.' });
  await chat.sendMessage({ text: 'How?' });
  expect(chat.status).toBe('error');
  await chat.regenerate();
  expect(textsOf(chat.messages).slice(2)).toEqual(['user: How?', 'assistant: step-start|Take the train.']);
});

/** A driver whose first call answers, and whose second one waits until it is aborted. */
function stuckDriver(isCalled: () => void): Driver {
  let calls = 0;
  return {
    async infer(_, { signal }) {
      if (calls++ === 0) return { content: [{ type: 'text', text: 'Hello.' }] };
      isCalled();
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      throw new Error('unreachable');
    },
  };
}

test('a stop before the first part of a response stops this response', async () => {
  const isCalled = Promise.withResolvers<void>();
  await using world = await chatWorld({ driver: stuckDriver(isCalled.resolve) });
  const { chat, transport } = world.page('c1');
  await chat.sendMessage({ text: 'Hi.' });
  const sent = chat.sendMessage({ text: 'How?' });
  await isCalled.promise;
  expect(await transport.stop('c1')).toBe(true);
  await sent;
  expect((await world.runtime.get('ada/c1')).state.status).toBe('stopped');
});

test('a page hears when the server has a message, and keeps a refused one until it is removed', async () => {
  const sent: string[] = [];
  const handler = { limits: { bodyBytes: 1_000 } };
  await using world = await chatWorld({ driver: scriptedDriver('Hello.') }, { handler });
  const onSent = ({ parts }: UIMessage, chatId: string): void => void sent.push(`${chatId} ${parts.length}`);
  const page = world.page('c1', { onError: () => undefined }, { onSent });
  const refused = 'x'.repeat(2_000);
  await page.chat.sendMessage({ text: refused });
  expect([page.chat.status, sent]).toEqual(['error', []]);
  await page.transport.load('c1');
  await shows(page, [`user: ${refused}`]);
  page.chat.messages = [];
  await page.chat.sendMessage({ text: 'Hi.' });
  expect(sent).toEqual(['c1 1']);
  await shows(page, ['user: Hi.', 'assistant: step-start|Hello.']);
});

test('a page that reads a response holds no other connection', async () => {
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let calls = 0;
  await using world = await chatWorld({
    driver: {
      async infer() {
        await gates[calls++]?.promise;
        return { content: [{ type: 'text', text: 'Take the train.' }] };
      },
    },
  });
  const watches = new Set<AbortSignal>();
  const counted: typeof fetch = async (url, init) => {
    const { signal } = init ?? {};
    const isWatch = typeof url === 'string' && url.endsWith('/watch');
    const response = await fetch(url, init);
    if (isWatch && signal && response.ok) watches.add(signal);
    return response;
  };
  const openWatches = () => [...watches].filter(({ aborted }) => !aborted).length;
  const page = world.page('c1', {}, { fetch: counted });
  for (const gate of gates) {
    const sent = page.chat.sendMessage({ text: 'How?' });
    await vi.waitFor(() => expect([page.chat.status, openWatches()]).toEqual(['submitted', 0]), PATIENCE);
    gate.resolve();
    await sent;
    await vi.waitFor(() => expect(openWatches()).toBe(1), PATIENCE);
  }
});

test('a message that is not JSON fails at once', async () => {
  await using world = await chatWorld({ driver: scriptedDriver('One.') });
  const { chat } = world.page('c1');
  await chat.sendMessage({ text: 'Hi.', metadata: { amount: 5n } });
  expect([chat.status, chat.error?.name]).toEqual(['error', 'TypeError']);
});
