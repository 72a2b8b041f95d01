import { browserOfBlock, isWithoutChromium } from 'app-testing';
import { describe, expect, test } from 'vitest';
import { SHARED_STORES, storeOfBlock } from './support/chat-stores.ts';
import { ChatWorld } from './support/chat-world.ts';
import { reloadDuringText } from './support/streamed-reload.ts';

const browser = browserOfBlock();

/** Pages with the transport of the AI SDK alone. */
describe.skipIf(isWithoutChromium).each(SHARED_STORES)('a page without Holdfast on $name', (tested) => {
  const beginChat = ChatWorld.ofBlock(storeOfBlock(tested), browser);

  test('sends, streams, reconnects after a reload, and decides', async () => {
    await using world = await beginChat();
    const page = await world.openPage('/stock');
    await reloadDuringText(world, page);
    await page.send('call pay {"euros":5}\nIt is paid.');
    await page.showsCall('pay', 'approval-requested');
    await page.press('Approve');
    const { state } = await world.endsOn(page);
    expect(state.finalResponse).toBe('It is paid.');
    expect(world.callsOf('pay')).toBe(1);
  });
});
