import {
  MemorySessionChannel,
  readChannelEntry,
  writeChannelEntry,
  type ChannelChange,
  type ChannelEntry,
  type ChannelNews,
  type ChannelNotification,
} from '@holdfast/core/channel';
import { manualClock } from '@holdfast/core/testing';
import { expect, test } from 'vitest';

function entry(n: number): ChannelEntry {
  const change: ChannelChange = {
    type: 'delta',
    stepId: 's',
    attempt: 1,
    delta: { type: 'text', id: '0', text: `${n}\ud800` },
  };
  return { incarnation: 'i', epoch: 1, series: 0, n, base: 1, change };
}

/** Subscribes, and returns the numbers of the entries that arrive. */
async function numbersFrom(
  channel: MemorySessionChannel,
  sessionId: string,
  signal = new AbortController().signal,
): Promise<number[]> {
  const numbers: number[] = [];
  const listener = (news: ChannelNews): void => {
    numbers.push(...(news.type === 'entries' ? news.entries.map(({ n }) => n) : [NaN]));
  };
  await channel.subscribe(sessionId, listener, { signal });
  return numbers;
}

test('a subscriber receives the tail and then what is published, and nothing of another session', async () => {
  const channel = new MemorySessionChannel();
  await channel.publish('a', [entry(0), entry(1)]);
  await channel.publish('a\0', [entry(7)]);
  const numbers = await numbersFrom(channel, 'a');
  await channel.publish('a', [entry(2)]);
  expect(numbers).toEqual([0, 1, 2]);
});

test('trim removes what was published before, and an empty batch with trim removes the tail', async () => {
  const channel = new MemorySessionChannel();
  await channel.publish('a', [entry(0)]);
  await channel.publish('a', [entry(1)], { trim: true });
  expect(await numbersFrom(channel, 'a')).toEqual([1]);
  await channel.publish('a', [], { trim: true });
  expect(await numbersFrom(channel, 'a')).toEqual([]);
});

test('a tail has at most 2,000 entries, and expires ten minutes after its last change', async () => {
  const clock = manualClock();
  const channel = new MemorySessionChannel({ clock });
  for (let n = 0; n < 2_001; n++) await channel.publish('a', [entry(n)]);
  const numbers = await numbersFrom(channel, 'a');
  expect([numbers.length, numbers[0]]).toEqual([2_000, 1]);
  clock.advance(600_000);
  expect(await numbersFrom(channel, 'a')).toEqual([]);
});

test('a connected channel has the same tails and listeners, and closes on its own', async () => {
  const channel = new MemorySessionChannel();
  const other = channel.connect();
  const [own, others] = [await numbersFrom(channel, 'a'), await numbersFrom(other, 'a')];
  await channel.publish('a', [entry(0)]);
  await other.close();
  await other.close();
  await channel.publish('a', [entry(1)]);
  expect([own, others]).toEqual([[0, 1], [0]]);
  await expect(other.publish('a', [])).rejects.toMatchObject({ code: 'CHANNEL_UNAVAILABLE' });
});

test('an aborted subscription receives no more, not even from within its listener', async () => {
  const channel = new MemorySessionChannel();
  const abortController = new AbortController();
  const received: number[] = [];
  await channel.subscribe(
    'a',
    () => {
      received.push(1);
      void channel.publish('a', [entry(1)]);
      abortController.abort();
      throw new Error('ignored');
    },
    { signal: abortController.signal },
  );
  await channel.publish('a', [entry(0)]);
  await channel.publish('a', [entry(2)]);
  expect(received).toEqual([1]);
});

test('a notification reaches the listeners of its session until they are removed', async () => {
  const channel = new MemorySessionChannel();
  const received: ChannelNotification[] = [];
  const remove = channel.onNotification('a', (notification) => received.push(notification));
  channel.onNotification('a', () => {
    throw new Error('ignored');
  });
  await channel.connect().notify('a', { type: 'stop', executionId: 'e' });
  await channel.notify('b', { type: 'look' });
  remove();
  await channel.notify('a', { type: 'look' });
  expect(received).toEqual([{ type: 'stop', executionId: 'e' }]);
});

test('the text of an entry is read back exactly, and a damaged one is not read', () => {
  expect(readChannelEntry(writeChannelEntry(entry(3)))).toEqual(entry(3));
  const texts = [
    '',
    'null',
    '{}',
    '[1]',
    '{"incarnation":"i","epoch":-1,"series":0,"n":0,"base":1,"change":{}}',
  ];
  const newer = writeChannelEntry(entry(0)).replace('"delta"', '"thought"');
  for (const text of [...texts, newer]) expect(readChannelEntry(text)).toBeUndefined();
});
