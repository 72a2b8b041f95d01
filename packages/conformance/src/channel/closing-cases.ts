import assert from 'node:assert/strict';
import { channelCase, numbered, numbers, type UngroupedChannelCase } from './channel-case.ts';

const UNAVAILABLE = { code: 'CHANNEL_UNAVAILABLE' };

export const capabilityCases: readonly UngroupedChannelCase[] = [
  channelCase('a channel declares its tail and its delivery', async ({ channel, abilities }) => {
    const { tail, delivery } = channel.capabilities;
    assert.equal(tail, abilities.tail ? 'deltas' : 'saves');
    assert(delivery === 'pushed' || delivery === 'polled', `The delivery is ${delivery as string}.`);
  }),
];

export const closingCases: readonly UngroupedChannelCase[] = [
  channelCase('a closed channel refuses every call, and closes again', async ({ channel }) => {
    await channel.close();
    await channel.close();
    const { signal } = new AbortController();
    await assert.rejects(channel.publish('a', [numbered(0)]), UNAVAILABLE);
    await assert.rejects(
      channel.subscribe('a', () => undefined, { signal }),
      UNAVAILABLE,
    );
    await assert.rejects(channel.notify('a', { type: 'look' }), UNAVAILABLE);
    channel.onNotification('a', () => undefined)();
  }),
  channelCase(
    'a closed channel calls no listener, and another channel is not closed with it',
    async ({ channel, reopen, subscribed, notified, until, quiet }) => {
      const other = await reopen();
      const [own, others] = [await subscribed(channel, 'a'), await subscribed(other, 'a')];
      const [ownNotices, otherNotices] = [await notified(channel, 'a'), await notified(other, 'a')];
      ownNotices.length = 0;
      await channel.close();
      await other.publish('a', [numbered(0)]);
      await other.notify('a', { type: 'look' });
      await until('the other receives it', () => others.received.length + otherNotices.length === 2);
      await quiet();
      assert.deepEqual([own.received, ownNotices], [[], []]);
    },
    'tail',
    'reopen',
  ),
  channelCase(
    'the tail outlives the channel that published it',
    async ({ channel, reopen, subscribed }) => {
      const other = await reopen();
      await channel.publish('a', [numbered(0), numbered(1)]);
      await channel.close();
      assert.deepEqual((await subscribed(other, 'a')).received, numbers(0, 1));
    },
    'tail',
    'reopen',
  ),
];
