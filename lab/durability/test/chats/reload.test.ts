import { browserOfBlock, isWithoutChromium } from 'app-testing';
import { describe, expect, test } from 'vitest';
import { CHAT_STORES, storeOfBlock } from './support/chat-stores.ts';
import { ChatWorld } from './support/chat-world.ts';
import { reloadDuringText } from './support/streamed-reload.ts';

const browser = browserOfBlock();

describe.skipIf(isWithoutChromium).each(CHAT_STORES)('a reload on $name', (tested) => {
  const beginChat = ChatWorld.ofBlock(storeOfBlock(tested), browser);

  test('while text streams', async () => {
    await using world = await beginChat();
    const page = await world.openPage();
    await reloadDuringText(world, page);
    expect((await world.session()).state.finalResponse).toBe('Take the train.');
  });

  test.each([
    ['the input of a tool streams', 'call work {"place":"Fl[a]åm"}', 'input-streaming'],
    ['a tool runs', 'call work {"gate":"a"}', 'input-available'],
  ])('while %s', async (_, call, state) => {
    await using world = await beginChat();
    const page = await world.openPage();
    const shows = async (): Promise<void> => {
      if (world.hasDeltas || state !== 'input-streaming') await page.showsCall('work', state);
    };
    await page.send(`${call}\nIt is done.`);
    await world.reaches('a');
    await shows();
    await page.reload();
    await shows();
    world.gates.open('a');
    const { state: end } = await world.endsOn(page);
    expect(end.finalResponse).toBe('It is done.');
    expect(world.callsOf('work')).toBe(1);
  });

  test('while a call waits for approval', async () => {
    await using world = await beginChat();
    const page = await world.openPage();
    await page.send('call pay {"euros":5}\nIt is paid.');
    await page.showsCall('pay', 'approval-requested');
    await page.reload();
    await page.showsCall('pay', 'approval-requested');
    await world.equals(page);
    await page.press('Approve');
    const { state } = await world.endsOn(page);
    expect(state.finalResponse).toBe('It is paid.');
    expect(world.callsOf('pay')).toBe(1);
  });
});
