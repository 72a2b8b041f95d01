import { tool } from '@holdfast/core';
import type { Driver } from '@holdfast/core/driver';
import { scriptedDriver } from '@holdfast/core/testing';
import { ChatRequestError } from '@holdfast/ui-ai-sdk/handler';
import type { UIMessage } from 'ai';
import { describe, expect, test, vi } from 'vitest';
import { sessionOf } from '../support/chat-requests.ts';
import { chatWorld, type ChatWorld, type TestPage } from '../support/chat-world.ts';
import { Network } from '../support/network.ts';
import { PATIENCE } from '../support/patience.ts';

const textsOf = (messages: readonly UIMessage[]): string[] =>
  messages.flatMap(({ parts }) => parts.flatMap((part) => ('text' in part ? [part.text] : [])));

/** Answers a first question "Hi?" and each "quick" one, and works on any other until it is aborted. */
const driver: Driver = {
  async infer({ messages }, { signal }) {
    const text = JSON.stringify(messages.last?.content);
    if (/Hi|quick/.test(text)) return { content: [{ type: 'text', text: 'Hello.' }] };
    signal.throwIfAborted();
    await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    throw new Error('unreachable');
  },
};

async function stateOf({ runtime }: ChatWorld) {
  return (await runtime.get(sessionOf('c1'))).state;
}

/** Waits until no run of the chat goes on, and nothing waits for one. */
async function isOver(world: ChatWorld): Promise<void> {
  await vi.waitFor(async () => {
    const { inbox } = await world.runtime.store.inspect(sessionOf('c1'));
    expect([(await stateOf(world)).hasActiveExecution, inbox.inbox]).toEqual([false, []]);
  }, PATIENCE);
}

async function isReady({ chat }: TestPage): Promise<void> {
  await vi.waitFor(() => expect(chat.status).toBe('ready'), PATIENCE);
}

describe.each([
  ['a new chat', false],
  ['a chat with a response', true],
])('a stop in %s', (_chat, hasResponse) => {
  /** A page whose message is under way in a network. */
  async function sendingPage(mode: 'held' | 'down' | 'deaf', text = 'Work!') {
    const world = await chatWorld({ driver });
    const network = new Network();
    const page = world.page('c1', { onError: () => undefined }, { fetch: network.fetch });
    if (hasResponse) await page.chat.sendMessage({ text: 'Hi?' });
    network.become(mode);
    void page.chat.sendMessage({ text });
    await network.untilMet();
    return { world, network, page };
  }
  const before = hasResponse ? ['Hi?', 'Hello.'] : [];

  test('that comes before the message stops its run as soon as the server has it', async () => {
    const { world, network, page } = await sendingPage('held');
    await using _ = world;
    const stopped = page.transport.stop('c1');
    network.become('open');
    expect(await stopped).toBe(true);
    await isReady(page);
    await isOver(world);
    expect((await stateOf(world)).status).toBe('stopped');
    expect(textsOf(page.chat.messages)).toEqual([...before, 'Work!']);
  });

  test('without a network takes the message back', async () => {
    const { world, network, page } = await sendingPage('down');
    await using _ = world;
    const stopped = page.transport.stop('c1');
    await isReady(page);
    network.become('open');
    expect(await stopped).toBe(false);
    expect(textsOf((await page.transport.load('c1')).messages)).toEqual(before);
    void page.chat.regenerate(); // the user sends it after all
    await vi.waitFor(async () => expect((await stateOf(world)).hasActiveExecution).toBe(true), PATIENCE);
    expect(await page.transport.stop('c1')).toBe(true);
    await isOver(world);
  });

  test('after the reply was lost stops the run that the page does not know of', async () => {
    const { world, network, page } = await sendingPage('deaf');
    await using _ = world;
    await vi.waitFor(async () => expect((await stateOf(world)).hasActiveExecution).toBe(true), PATIENCE);
    network.become('down');
    const stopped = page.transport.stop('c1');
    await isReady(page);
    network.become('open');
    expect(await stopped).toBe(true);
    await isOver(world);
    await vi.waitFor(() => expect(textsOf(page.chat.messages)).toEqual([...before, 'Work!']), PATIENCE);
  });

  test('a second time does not wait for a server that does not reply', async () => {
    const { world, page } = await sendingPage('held');
    await using _ = world;
    const first = page.transport.stop('c1');
    const second = page.transport.stop('c1');
    await isReady(page);
    expect(await Promise.all([first, second])).toEqual([false, false]);
    expect(textsOf((await page.transport.load('c1')).messages)).toEqual(before);
  });

  test('does not reach the message that the user sends next', async () => {
    const { world, network, page } = await sendingPage('held');
    await using _ = world;
    const stopped = page.transport.stop('c1');
    const sent = page.chat.sendMessage({ text: 'A quick one?' });
    network.become('open');
    expect(await stopped).toBe(true);
    await sent;
    await isReady(page);
    await isOver(world);
    const { status } = await stateOf(world);
    expect([status, textsOf(await world.saved('c1'))]).toEqual([
      'completed',
      [...before, 'Work!', 'A quick one?', 'Hello.'],
    ]);
  });
});

test('a stop in a chat without a message stops nothing', async () => {
  await using world = await chatWorld({ driver });
  expect(await world.page('c1').transport.stop('c1')).toBe(false);
});

test('a stop of a message that the server refuses stops nothing', async () => {
  let isRefused = false;
  const authorize = ({ method }: Request) => {
    if (isRefused && method === 'POST') throw new ChatRequestError('CHAT_RATE_LIMITED', 'Not now.');
    return { owner: 'ada' };
  };
  await using world = await chatWorld({ driver }, { handler: { authorize } });
  const network = new Network();
  const page = world.page('c1', { onError: () => undefined }, { fetch: network.fetch });
  network.become('held');
  const sent = page.chat.sendMessage({ text: 'Work!' });
  await network.untilMet();
  const stopped = page.transport.stop('c1');
  isRefused = true;
  network.become('open');
  expect(await stopped).toBe(false);
  await sent;
  expect(page.chat.status).toBe('error');
});

test.each([
  ['a regeneration', 'held'],
  ['a regeneration', 'deaf'],
  ['an edit', 'held'],
  ['an edit', 'deaf'],
] as const)('a stop during %s stops it: %s', async (kind, mode) => {
  let calls = 0;
  const slower: Driver = {
    infer: (request, options) =>
      calls++ === 0
        ? Promise.resolve({ content: [{ type: 'text', text: 'One.' }] })
        : driver.infer(request, options),
  };
  await using world = await chatWorld({ driver: slower });
  const network = new Network();
  const { chat, ...page } = world.page('c1', {}, { fetch: network.fetch });
  await chat.sendMessage({ text: 'Work!' });
  const messageId = chat.messages[0]?.id ?? '';
  network.become(mode);
  void (kind === 'an edit' ? chat.sendMessage({ text: 'Work more!', messageId }) : chat.regenerate());
  await network.untilMet();
  const isAtWork = mode === 'deaf';
  await vi.waitFor(async () => expect((await stateOf(world)).hasActiveExecution).toBe(isAtWork), PATIENCE);
  const stopped = page.transport.stop('c1');
  network.become('open');
  expect(await stopped).toBe(true);
  await isReady({ chat, ...page });
  await isOver(world);
  expect((await stateOf(world)).status).toBe('stopped');
});

test('a stop while a decision is on its way leaves no run behind', async () => {
  const ran: string[] = [];
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: { type: 'object' },
    needsApproval: true,
    execute: () => (ran.push('paid'), 'paid'),
  });
  const scripted = scriptedDriver({ calls: { pay: {} } }, 'Paid.');
  const handler = { mayDecide: () => true };
  await using world = await chatWorld({ driver: scripted, tools: [pay] }, { handler });
  const network = new Network();
  const page = world.page('c1', {}, { fetch: network.fetch });
  await page.chat.sendMessage({ text: 'Pay.' });
  network.become('down');
  const part = page.chat.lastMessage?.parts.at(-1) as { readonly approval: { readonly id: string } };
  void page.chat.addToolApprovalResponse({ id: part.approval.id, approved: true });
  await network.untilMet();
  const stopped = page.transport.stop('c1');
  await isReady(page);
  network.become('open');
  expect(await stopped).toBe(true);
  await isOver(world);
  expect([(await stateOf(world)).status, ran]).toEqual(['stopped', []]);
});
