import assert from 'node:assert/strict';
import type { ChannelNotification } from '@holdfast/core/channel';
import { HOSTILE_IDS } from '../store/case/hostile-ids.ts';
import { channelCase, type UngroupedChannelCase } from './channel-case.ts';

export const notificationCases: readonly UngroupedChannelCase[] = [
  channelCase('a notification reaches the listener of its session, as it was sent', async (context) => {
    const { channel, notified, until } = context;
    const received = await notified(channel, 'a');
    await channel.notify('a', { type: 'look' });
    await until('the first notification arrives', () => received.length === 1);
    await channel.notify('a', { type: 'stop', executionId: 'e\0"1', itemId: 'i\0"1' });
    await until('the second notification arrives', () => received.length === 2);
    const [look, stop] = received as [ChannelNotification, ChannelNotification];
    assert.deepEqual({ ...look, executionId: look.executionId }, { type: 'look', executionId: undefined });
    assert.deepEqual({ ...stop }, { type: 'stop', executionId: 'e\0"1', itemId: 'i\0"1' });
  }),
  channelCase('a notification of a session that no listener has resolves', async ({ channel }) => {
    await channel.notify('nobody', { type: 'look' });
  }),
  channelCase('each listener of a session receives a notification', async (context) => {
    const { channel, notified, until } = context;
    const [one, other] = [await notified(channel, 'a'), await notified(channel, 'a')];
    one.length = 0;
    await channel.notify('a', { type: 'look' });
    await until('it arrives twice', () => one.length === 1 && other.length === 1);
  }),
  channelCase('a listener that was removed receives nothing more, and others still do', async (context) => {
    const { channel, notified, until, quiet } = context;
    let count = 0;
    const remove = channel.onNotification('a', () => count++);
    const other = await notified(channel, 'a');
    await quiet();
    remove();
    remove();
    const before = count;
    await channel.notify('a', { type: 'look' });
    await until('the other listener receives it', () => other.length === 1);
    await quiet();
    assert.equal(count, before);
  }),
  channelCase('a listener that throws does not keep a notification from others', async (context) => {
    const { channel, notified, until } = context;
    const remove = channel.onNotification('a', () => {
      throw new Error('A listener throws.');
    });
    const received = await notified(channel, 'a');
    await channel.notify('a', { type: 'look' });
    await until('the other listener receives it', () => received.length === 1);
    remove();
  }),
  channelCase('sessions whose ids are alike receive their own notifications only', async (context) => {
    const { channel, notified, until, quiet } = context;
    const received = new Map<string, ChannelNotification[]>();
    for (const id of HOSTILE_IDS) received.set(id, await notified(channel, id));
    for (const all of received.values()) all.length = 0;
    for (const id of HOSTILE_IDS) await channel.notify(id, { type: 'stop', executionId: id });
    await until('each arrives', () => [...received.values()].every((all) => all.length > 0));
    await quiet();
    for (const [id, all] of received) {
      assert.deepEqual(
        all.map(({ executionId }) => executionId),
        [id],
      );
    }
  }),
  channelCase(
    'a notification reaches a listener in another process',
    async ({ channel, reopen, notified, until }) => {
      const received = await notified(await reopen(), 'a');
      await channel.notify('a', { type: 'stop', executionId: 'e' });
      await until('it arrives', () => received.length === 1);
      assert.equal(received[0]?.executionId, 'e');
    },
    'reopen',
  ),
];
