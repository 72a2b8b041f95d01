import {
  ChannelSubscription,
  readChannelNews,
  writeChannelEntry,
  type ChannelEntry,
} from '@holdfast/core/channel';
import { expect, test } from 'vitest';

function entry(n: number): ChannelEntry {
  const change = { type: 'saved', version: 1, status: 'idle', at: 0 } as const;
  return { incarnation: 'i', epoch: 1, series: 0, n, base: 0, change };
}

test('texts that are no entries become gaps', () => {
  const [zero, one] = [entry(0), entry(1)];
  expect(readChannelNews([zero, one].map(writeChannelEntry))).toEqual([
    { type: 'entries', entries: [zero, one] },
  ]);
  expect(readChannelNews([writeChannelEntry(zero), '{"n":', writeChannelEntry(one), '{}'])).toEqual([
    { type: 'entries', entries: [zero] },
    { type: 'gap' },
    { type: 'entries', entries: [one] },
    { type: 'gap' },
  ]);
  expect(readChannelNews([])).toEqual([]);
});

test('a subscription ends once, in the middle of news too, and ignores what its listener throws', () => {
  const controller = new AbortController();
  let [calls, ends] = [0, 0];
  const listener = (): never => {
    calls++;
    controller.abort();
    throw new Error('A listener throws.');
  };
  const subscription = new ChannelSubscription(listener, controller.signal, () => ends++);
  subscription.receive([{ type: 'gap' }, { type: 'gap' }]);
  subscription.end();
  expect([calls, ends, subscription.isOver]).toEqual([1, 1, true]);
});
