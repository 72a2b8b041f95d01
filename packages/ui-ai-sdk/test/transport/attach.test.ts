import { scriptedDriver } from '@holdfast/core/testing';
import type { UIMessage } from 'ai';
import { expect, test, vi } from 'vitest';
import { chatWorld } from '../support/chat-world.ts';
import { PATIENCE } from '../support/patience.ts';

const texts = (messages: readonly UIMessage[]) => messages.map(({ role }) => role);

test('a page that was refused says so, and follows its chat when it is accepted', async () => {
  const refused: string[] = [];
  let isSignedIn = false;
  const authorize = () => (isSignedIn ? { owner: 'ada' } : undefined);
  await using world = await chatWorld({ driver: scriptedDriver('Hello.') }, { handler: { authorize } });
  const onRefused = ({ code }: { readonly code: string }, chatId: string): void =>
    void refused.push(`${chatId} ${code}`);
  const page = world.page('c1', {}, { onRefused });
  await vi.waitFor(() => expect(refused[0]).toBe('c1 CHAT_UNAUTHORIZED'), PATIENCE);
  isSignedIn = true;
  const other = world.page('c1');
  await other.chat.sendMessage({ text: 'Hi.' });
  await vi.waitFor(() => expect(texts(page.chat.messages)).toEqual(['user', 'assistant']), PATIENCE);
});

test('a page shows that its chat was deleted elsewhere', async () => {
  await using world = await chatWorld({ driver: scriptedDriver('Hello.') });
  const [page, other] = [world.page('c1'), world.page('c1')];
  await page.chat.sendMessage({ text: 'Hi.' });
  await vi.waitFor(() => expect(texts(other.chat.messages)).toEqual(['user', 'assistant']), PATIENCE);
  await page.transport.delete('c1');
  await vi.waitFor(() => expect([...page.chat.messages, ...other.chat.messages]).toEqual([]), PATIENCE);
});

test('a regeneration that is repeated happens once, also in a page that has loaded nothing', async () => {
  await using world = await chatWorld({ driver: scriptedDriver('One.', 'Two.', 'Three.') });
  const { chat, close } = world.page('c1');
  await chat.sendMessage({ text: 'Hi.' });
  close();
  let losses = 1;
  const lossy: typeof fetch = async (url, init) => {
    const response = await fetch(url, init);
    if (init?.method !== 'POST' || losses-- <= 0) return response;
    await response.body?.cancel();
    throw new TypeError('fetch failed');
  };
  const again = world.page('c1', { messages: await world.saved('c1') }, { fetch: lossy });
  again.close();
  await again.chat.regenerate();
  await vi.waitFor(
    () => expect(again.chat.lastMessage?.parts.at(-1)).toMatchObject({ text: 'Two.' }),
    PATIENCE,
  );
});
