import { browserOfBlock, isWithoutChromium } from 'app-testing';
import { describe, expect, test } from 'vitest';
import { ChatReply } from './support/chat-client.ts';
import { lastText } from './support/chat-page.ts';
import { CHAT_STORES, storeOfBlock } from './support/chat-stores.ts';
import { ChatWorld } from './support/chat-world.ts';

const browser = browserOfBlock();

describe.skipIf(isWithoutChromium).each(CHAT_STORES)('a chat on $name', (tested) => {
  const beginChat = ChatWorld.ofBlock(storeOfBlock(tested), browser);

  test('is deleted during a response, and can begin anew', async () => {
    await using world = await beginChat();
    const page = await world.openPage();
    await page.send('Take [a]the train.');
    await world.reaches('a');
    if (world.hasDeltas) await page.showsText('Take ');
    const deleted = await ChatReply.of(`${world.url}/api/chat/${world.chatId}`, { method: 'DELETE' });
    expect(JSON.parse(await deleted.text())).toEqual({ isDeleted: true });
    await page.shows('no message', (messages, { status }) => messages.length === 0 && status === 'ready');
    await page.send('Take the bus.');
    await page.showsText('Take the bus.');
    await world.endsOn(page);
  });

  test('gets one response when two tabs regenerate at once', async () => {
    await using world = await beginChat();
    const [first, second] = [await world.openPage(), await world.openPage()];
    await first.send('{worker} says: take the train.');
    await world.endsOn(first, second);
    const before = (await first.shown()).messages[1]?.id;
    const requests = await Promise.all([first.holdPost(), second.holdPost()]);
    const pressed = [first, second].map((page) => page.press('Regenerate'));
    await Promise.all([...pressed, ...requests.map(({ isHeld }) => isHeld)]);
    for (const { release } of requests) release();
    const isNew = (messages: readonly { readonly id: string }[]): boolean =>
      messages.length === 2 && messages[1]?.id !== before;
    await first.shows('another response', isNew);
    const { state } = await world.endsOn(first, second);
    expect(state.messages.length).toBe(2);
    expect(state.finalResponse).toBe('one says: take the train.');
  });

  test('takes an edit during a response', async () => {
    await using world = await beginChat();
    const page = await world.openPage();
    await page.send('Take [a]the train.');
    await world.reaches('a');
    if (world.hasDeltas) await page.showsText('Take ');
    await page.send('Take the bus.', 'Edit');
    await page.showsText('Take the bus.');
    const { state } = await world.endsOn(page);
    expect(state.messages.length).toBe(2);
    expect(lastText((await page.shown()).messages)).toBe('Take the bus.');
  });
});
