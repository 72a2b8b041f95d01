import { browserOfBlock, isWithoutChromium } from 'app-testing';
import { describe, expect, test } from 'vitest';
import { SHARED_STORES, storeOfBlock } from './support/chat-stores.ts';
import { ChatWorld } from './support/chat-world.ts';

const browser = browserOfBlock();

/** Pages with the transport of the AI SDK alone. */
describe.skipIf(isWithoutChromium).each(SHARED_STORES)('a page without Holdfast on $name', (tested) => {
  const store = storeOfBlock(tested);

  test('sends, streams, reconnects after a reload, and decides', async () => {
    await using world = await ChatWorld.of(store, browser());
    await world.startBoth();
    const page = await world.openPage('/stock');
    await page.send('Take [a]the [b]train.');
    await world.reaches('a');
    if (world.hasDeltas) await page.showsText('Take ');
    await page.reload();
    if (world.hasDeltas) await page.showsText('Take ');
    world.gates.open('a');
    await world.reaches('b');
    if (world.hasDeltas) await page.showsText('Take the ');
    world.gates.open('b');
    await world.endsOn(page);
    await page.send('call pay {"euros":5}\nIt is paid.');
    await page.showsCall('pay', 'approval-requested');
    await page.press('Approve');
    const { state } = await world.endsOn(page);
    expect(state.finalResponse).toBe('It is paid.');
    expect(world.callsOf('pay')).toBe(1);
  });
});
