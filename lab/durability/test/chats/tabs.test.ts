import { browserOfBlock, isWithoutChromium } from 'app-testing';
import { afterAll, describe, expect, test } from 'vitest';
import { lastText } from './support/chat-page.ts';
import { EFFORT } from '../effort.ts';
import { CHAT_STORES, storeOfBlock } from './support/chat-stores.ts';
import { ChatWorld } from './support/chat-world.ts';

const browser = browserOfBlock();

describe.skipIf(isWithoutChromium).each(CHAT_STORES)('two tabs on $name', (tested) => {
  const beginChat = ChatWorld.ofBlock(storeOfBlock(tested), browser);
  const stops: number[] = [];
  afterAll(() => {
    if (EFFORT > 1) console.log(`${tested.name}: from the button to the other page ${stops.join(', ')} ms`);
  });

  test('the other tab stops the response', async () => {
    await using world = await beginChat();
    const [reading, other] = [await world.openPage(), await world.openPage()];
    await reading.send('Take [a]the train.');
    await world.reaches('a');
    if (world.hasDeltas) {
      await reading.showsText('Take ');
      await other.showsText('Take ');
    }
    await other.press('Stop');
    await reading.shows('the stop', (_, { status }) => status === 'ready');
    stops.push((await reading.shown()).changedAt - (await other.shown()).stoppedAt);
    const { state } = await world.endsOn(reading, other);
    expect(state.status).toBe('stopped');
    expect(lastText((await reading.shown()).messages)).toBe('Take ');
  });

  test('the other tab stops a tool', async () => {
    await using world = await beginChat();
    const [reading, other] = [await world.openPage(), await world.openPage()];
    await reading.send('call work {"gate":"w"}\nIt is done.');
    await world.reaches('w');
    await other.showsCall('work', 'input-available');
    await other.press('Stop');
    const { state } = await world.endsOn(reading, other);
    expect(state.status).toBe('stopped');
    expect(world.callsOf('work')).toBe(1);
  });

  test('an idle tab shows the messages of the other one', async () => {
    await using world = await beginChat();
    const [writing, idle] = [await world.openPage(), await world.openPage()];
    await writing.send('Take [a]the train.');
    await world.reaches('a');
    await idle.shows('the message', (messages) => messages[0]?.role === 'user');
    if (world.hasDeltas) await idle.showsText('Take ');
    world.gates.open('a');
    await world.endsOn(writing, idle);
    await idle.send('And then the bus.');
    await idle.showsText('And then the bus.');
    const { state } = await world.endsOn(writing, idle);
    expect(state.messages.length).toBe(4);
  });

  test('a message that is sent during a response shows in both', async () => {
    await using world = await beginChat();
    const [writing, other] = [await world.openPage(), await world.openPage()];
    await writing.send('call work {"gate":"w"}\nThe work is done.');
    await world.reaches('w');
    await other.showsCall('work', 'input-available');
    await other.send('I also say this.');
    await other.shows('its message', (messages) => messages.length > 2);
    world.gates.open('w');
    const { state } = await world.endsOn(writing, other);
    expect(state.finalResponse).toBe('I also say this.');
    expect(state.messages.toArray().filter(({ role }) => role === 'user').length).toBe(2);
  });

  test('an approval in one tab shows in the other', async () => {
    await using world = await beginChat();
    const [deciding, other] = [await world.openPage(), await world.openPage()];
    await deciding.send('call pay {"gate":"p"}\nIt is paid.');
    await other.showsCall('pay', 'approval-requested');
    await deciding.showsCall('pay', 'approval-requested');
    await deciding.press('Approve');
    await world.reaches('p');
    await other.showsCall('pay', 'approval-responded');
    world.gates.open('p');
    await world.endsOn(deciding, other);
    expect(world.callsOf('pay')).toBe(1);
  });

  test.each([
    ['approve twice', ['Approve', 'Approve']],
    ['approve and deny', ['Approve', 'Deny']],
  ] as const)('both tabs %s at once, and the first decision counts', async (_, [one, two]) => {
    await using world = await beginChat();
    const [first, second] = [await world.openPage(), await world.openPage()];
    await first.send('call pay {"euros":5}\nIt is over.');
    await first.showsCall('pay', 'approval-requested');
    await second.showsCall('pay', 'approval-requested');
    const requests = await Promise.all([first.holdPost(), second.holdPost()]);
    await Promise.all([first.press(one), second.press(two), ...requests.map(({ isHeld }) => isHeld)]);
    for (const { release } of requests) release();
    const { state } = await world.endsOn(first, second);
    expect(state.finalResponse).toBe('It is over.');
    const isPaid = JSON.stringify(state.messages.toArray()).includes('pay is done');
    expect(world.callsOf('pay')).toBe(isPaid ? 1 : 0);
  });
});
