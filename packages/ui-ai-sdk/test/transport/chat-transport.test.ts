import { tool } from '@holdfast/core';
import { scriptedDriver } from '@holdfast/core/testing';
import type { UIMessage } from 'ai';
import { expect, test, vi } from 'vitest';
import { chatWorld } from '../support/chat-world.ts';
import type { TestPage } from '../support/chat-world.ts';

const textsOf = (messages: readonly UIMessage[]): string[] =>
  messages.map(
    ({ role, parts }) =>
      `${role}: ${parts.map((part) => ('text' in part ? part.text : part.type)).join('|')}`,
  );

/** Waits until a page shows what is expected. */
async function shows(page: TestPage, texts: readonly string[]): Promise<void> {
  await vi.waitFor(() => expect(textsOf(page.chat.messages)).toEqual(texts), { timeout: 5_000, interval: 5 });
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

test('an approval in the page lets the tool run', async () => {
  const paid: string[] = [];
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: { type: 'object' },
    needsApproval: true,
    execute: () => (paid.push('paid'), 'paid'),
  });
  await using world = await chatWorld({
    driver: scriptedDriver({ calls: [['pay', { amount: 5 }]] }, 'It is paid.'),
    tools: [pay],
  });
  const { chat } = world.page('c1');
  await chat.sendMessage({ text: 'Pay.' });
  const [part] = chat.messages.at(-1)?.parts.slice(-1) ?? [];
  expect(part).toMatchObject({ type: 'tool-pay', state: 'approval-requested' });
  const { approval } = part as { approval: { id: string } };
  await chat.addToolApprovalResponse({ id: approval.id, approved: true });
  await vi.waitFor(() => expect(chat.status).toBe('ready'));
  await vi.waitFor(() => expect(textsOf(chat.messages).at(-1)).toContain('It is paid.'));
  expect(paid).toEqual(['paid']);
  expect(chat.messages).toEqual(await world.saved('c1'));
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
