import { browserOfBlock, isWithoutChromium } from 'app-testing';
import { afterAll, describe, expect, test } from 'vitest';
import { EFFORT } from '../effort.ts';
import { SHARED_STORES, storeOfBlock } from './support/chat-stores.ts';
import { ChatWorld } from './support/chat-world.ts';

const browser = browserOfBlock();

describe.skipIf(isWithoutChromium).each(SHARED_STORES)('a chat on $name', (tested) => {
  const store = storeOfBlock(tested);
  const measured: string[] = [];
  afterAll(() => {
    if (EFFORT > 1) console.log(`${tested.name}: ${measured.join('; ')}`);
  });

  /** Notes the seconds from a kill to a condition. */
  async function measure(what: string, work: () => Promise<void>): Promise<void> {
    const from = performance.now();
    await work();
    measured.push(`${what} ${((performance.now() - from) / 1_000).toFixed(2)} s`);
  }

  test('continues when its worker dies while text streams', async () => {
    await using world = await ChatWorld.of(store, browser());
    const { worker } = await world.startBoth();
    const page = await world.openPage();
    await page.send('{worker} says: take [a]the [b]train.');
    await world.reaches('a');
    if (world.hasDeltas) await page.showsText('one says: take ');
    await world.startWorker('two');
    world.gates.open('a');
    await world.reaches('b');
    await worker.kill();
    await measure('worker killed in text', async () => {
      if (world.hasDeltas) await page.showsText('two says: take the ');
    });
    world.gates.open('b');
    await world.endsOn(page);
    expect((await world.session()).state.finalResponse).toBe('two says: take the train.');
  });

  test('continues when its worker dies in a tool, which does not run twice', async () => {
    await using world = await ChatWorld.of(store, browser());
    const { worker } = await world.startBoth();
    const page = await world.openPage();
    await page.send('call work {"gate":"w"}\n{worker} is [a]done.');
    await world.reaches('w');
    await page.showsCall('work', 'input-available');
    await world.startWorker('two');
    await worker.kill();
    await measure('worker killed in a tool', () => page.showsCall('work', 'output-error'));
    world.gates.open('w', 'a');
    await world.endsOn(page);
    expect((await world.session()).state.finalResponse).toBe('two is done.');
    expect(world.callsOf('work')).toBe(1);
  });

  test('continues without a reload when its web process dies', async () => {
    await using world = await ChatWorld.of(store, browser());
    const { web } = await world.startBoth();
    const page = await world.openPage();
    await page.send('Take [a]the [b]train.');
    await world.reaches('a');
    if (world.hasDeltas) await page.showsText('Take ');
    await web.kill();
    world.gates.open('a');
    await world.reaches('b');
    await world.startWeb();
    await measure('web process killed and replaced', async () => {
      if (world.hasDeltas) await page.showsText('Take the ');
    });
    world.gates.open('b');
    await world.endsOn(page);
    expect((await world.session()).state.finalResponse).toBe('Take the train.');
  });
});
