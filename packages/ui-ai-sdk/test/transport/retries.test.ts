import { scriptedDriver } from '@holdfast/core/testing';
import { ChatRequestError, type ChatErrorCode } from '@holdfast/ui-ai-sdk/handler';
import { DefaultChatTransport, type UIMessage } from 'ai';
import { describe, expect, test, vi } from 'vitest';
import { chatWorld, type ChatWorld } from '../support/chat-world.ts';
import { Network } from '../support/network.ts';
import { PATIENCE } from '../support/patience.ts';
import { TestChat } from '../support/test-chat.ts';

const textsOf = (messages: readonly UIMessage[]): string[] =>
  messages.map(({ role, parts }) => {
    const texts = parts.flatMap((part) =>
      'text' in part ? [part.text] : part.type === 'file' ? ['file'] : [],
    );
    return `${role}: ${texts.join(' ')}`;
  });

/** A chat whose server refuses what pages send, while `refuse` has a code. */
async function refusingWorld(...answers: string[]) {
  const refusal: { code: ChatErrorCode | undefined } = { code: undefined };
  const authorize = ({ method }: Request) => {
    if (refusal.code && method === 'POST') throw new ChatRequestError(refusal.code, 'Not now.');
    return { owner: 'ada' };
  };
  const world = await chatWorld({ driver: scriptedDriver(...answers) }, { handler: { authorize } });
  return { world, refuse: (code: ChatErrorCode | undefined) => (refusal.code = code) };
}

type OpenPage = (world: ChatWorld) => TestChat;
const onError = (): void => undefined;
const attached: OpenPage = (world) => world.page('c1', { onError }).chat;
const detached: OpenPage = (world) => {
  const { chat, close } = world.page('c1', { onError });
  close();
  return chat;
};
const stock: OpenPage = ({ server }) => {
  const transport = new DefaultChatTransport({ api: `${server.url}/api/chat` });
  return new TestChat({ id: 'c1', transport, onError, generateId: () => crypto.randomUUID() });
};
const pages = [
  ['an attached page', attached],
  ['a page', detached],
  ['a page with the transport of the AI SDK', stock],
] as const;

/** Waits until a page is ready and shows the saved session, and returns the texts. */
async function settled(world: ChatWorld, chat: TestChat): Promise<readonly string[]> {
  return vi.waitFor(async () => {
    const texts = textsOf(await world.saved('c1'));
    expect([chat.status, textsOf(chat.messages)]).toEqual(['ready', texts]);
    return texts;
  }, PATIENCE);
}

describe.each(pages)('regenerate() in %s', (_page, open) => {
  test.each<ChatErrorCode>([
    'CHAT_UNAUTHORIZED',
    'CHAT_RATE_LIMITED',
    'CHAT_BUSY',
    'CHAT_BODY_TOO_LARGE',
    'CHAT_FAILED',
  ])(
    'sends a message again that was refused with %s, also twice, and keeps the response before it',
    async (code) => {
      const { world, refuse } = await refusingWorld('One.', 'Two.');
      await using _ = world;
      const chat = open(world);
      await chat.sendMessage({ text: 'One?' });
      refuse(code);
      await chat.sendMessage({ text: 'Two?' });
      await chat.regenerate();
      expect(chat.status).toBe('error');
      expect(textsOf(chat.messages)).toEqual(['user: One?', 'assistant: One.', 'user: Two?']);
      refuse(undefined);
      await chat.regenerate();
      expect(await settled(world, chat)).toEqual([
        'user: One?',
        'assistant: One.',
        'user: Two?',
        'assistant: Two.',
      ]);
    },
  );

  test('sends the refused first message of a chat, with its file', async () => {
    const { world, refuse } = await refusingWorld('One.');
    await using _ = world;
    const chat = open(world);
    refuse('CHAT_RATE_LIMITED');
    const url = 'data:image/png;base64,AAAA';
    const files = [{ type: 'file', mediaType: 'image/png', url } as const];
    await chat.sendMessage({ text: 'One?', files });
    refuse(undefined);
    await chat.regenerate({ messageId: chat.lastMessage?.id ?? '' });
    expect(await settled(world, chat)).toEqual(['user: file One?', 'assistant: One.']);
  });

  test('sends an edit again that was refused', async () => {
    const { world, refuse } = await refusingWorld('One.', 'Two.', 'Three.');
    await using _ = world;
    const chat = open(world);
    await chat.sendMessage({ text: 'One?' });
    await chat.sendMessage({ text: 'Two?' });
    const messageId = chat.messages[2]?.id ?? '';
    refuse('CHAT_RATE_LIMITED');
    await chat.sendMessage({ text: 'Three?', messageId });
    refuse(undefined);
    await chat.regenerate();
    expect(await settled(world, chat)).toEqual([
      'user: One?',
      'assistant: One.',
      'user: Three?',
      'assistant: Three.',
    ]);
  });

  test('replaces the response to a message that the server has', async () => {
    const { world } = await refusingWorld('One.', 'Two.');
    await using _ = world;
    const chat = open(world);
    await chat.sendMessage({ text: ' One? ', files: [] });
    await chat.regenerate();
    expect(await settled(world, chat)).toEqual(['user:  One? ', 'assistant: Two.']);
  });
});

test('an attached page keeps a refused edit until the user sends another message', async () => {
  const { world, refuse } = await refusingWorld('One.', 'Two.', 'Three.');
  await using _ = world;
  const { chat } = world.page('c1', { onError });
  await chat.sendMessage({ text: 'One?' });
  refuse('CHAT_RATE_LIMITED');
  await chat.sendMessage({ text: 'Other?', messageId: chat.messages[0]?.id ?? '' });
  refuse(undefined);
  const other = world.page('c1');
  await vi.waitFor(() => expect(other.chat.messages).toHaveLength(2), PATIENCE);
  await other.chat.sendMessage({ text: 'Two?' });
  expect(textsOf(chat.messages)[0]).toBe('user: Other?');
  await chat.sendMessage({ text: 'Three?' });
  const texts = ['One', 'Two', 'Three'].flatMap((text) => [`user: ${text}?`, `assistant: ${text}.`]);
  expect(await settled(world, chat)).toEqual(texts);
});

test('another page that has written meanwhile loses nothing', async () => {
  const { world, refuse } = await refusingWorld('One.', 'Two.', 'Three.');
  await using _ = world;
  const { chat } = world.page('c1', { onError });
  await chat.sendMessage({ text: 'One?' });
  refuse('CHAT_RATE_LIMITED');
  await chat.sendMessage({ text: 'Three?' });
  refuse(undefined);
  const other = world.page('c1');
  await vi.waitFor(() => expect(other.chat.messages).toHaveLength(2), PATIENCE);
  await other.chat.sendMessage({ text: 'Two?' });
  await vi.waitFor(
    () => expect(textsOf(chat.messages).slice(3)).toEqual(['assistant: Two.', 'user: Three?']),
    PATIENCE,
  );
  await chat.regenerate();
  const texts = ['One', 'Two', 'Three'].flatMap((text) => [`user: ${text}?`, `assistant: ${text}.`]);
  expect(await settled(world, chat)).toEqual(texts);
});

test('a server that is down for a while gets the message once', async () => {
  await using world = await chatWorld({ driver: scriptedDriver('One.', 'Two.') });
  const network = new Network();
  const { chat } = world.page('c1', {}, { fetch: network.fetch });
  await chat.sendMessage({ text: 'One?' });
  network.become('down');
  const sent = chat.sendMessage({ text: 'Two?' });
  await network.untilMet();
  network.become('open');
  await sent;
  expect(await settled(world, chat)).toEqual([
    'user: One?',
    'assistant: One.',
    'user: Two?',
    'assistant: Two.',
  ]);
});
