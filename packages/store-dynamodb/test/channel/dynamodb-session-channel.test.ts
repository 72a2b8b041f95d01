import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { channelTests, newSession, withFact, type CreateChannel } from '@holdfast/conformance';
import type { ChannelNews } from '@holdfast/core/channel';
import { DynamoDbSessionChannel } from '@holdfast/store-dynamodb';
import { describe, expect, test } from 'vitest';
import { testCases } from '@holdfast/conformance/vitest';
import { notificationKey } from '../../src/channel/channel-table.ts';
import { keyItem } from '../../src/table/item.ts';
import { testDatabase } from '../support/test-database.ts';

const database = testDatabase();
let table = '';

function opened(): DynamoDbSessionChannel {
  return new DynamoDbSessionChannel({ client: database.client(), table, pollSeconds: 0.004 });
}

const reopen: CreateChannel = async () => {
  const channel = opened();
  return { channel, close: () => channel.close() };
};
const create: CreateChannel = async () => {
  table = await database.newTable();
  return reopen();
};

describe('DynamoDbSessionChannel', () => {
  testCases(channelTests({ create, reopen, turnMilliseconds: 5 }));
});

/** Subscribes to a session, and returns the next news with each call. */
async function subscribed(channel: DynamoDbSessionChannel, sessionId: string) {
  const received: unknown[] = [];
  let wake = (): void => undefined;
  const listener = (news: ChannelNews): void => {
    received.push(
      ...(news.type === 'gap' ? ['gap'] : news.entries.map(({ base, change }) => ({ base, ...change }))),
    );
    wake();
  };
  await channel.subscribe(sessionId, listener, { signal: new AbortController().signal });
  return async () => {
    while (received.length === 0) await new Promise<void>((resolve) => (wake = resolve));
    return received.shift();
  };
}

test('a subscriber receives the last save, each save after it, and a gap when the session is deleted', async () => {
  table = await database.newTable();
  const store = await database.newStore({ table });
  const channel = opened();
  const base = await store.create(newSession('a'));
  const next = await subscribed(channel, 'a');
  await expect(next()).resolves.toMatchObject({ type: 'saved', version: 1, base: 0, at: base.updatedAt });
  await store.enqueue('a', { id: 'i', content: 1 }); // this changes the header, and is no save
  const saved = await store.save(withFact(base, 'n', 1), { base });
  await expect(next()).resolves.toMatchObject({ version: 2, base: 1, status: saved.status });
  const other = await subscribed(channel, 'a');
  await expect(other()).resolves.toMatchObject({ version: 2 });
  await store.delete('a');
  await expect(Promise.all([next(), other()])).resolves.toEqual(['gap', 'gap']);
  await channel.close();
});

test('a notification leaves no item when the worker releases the session', async () => {
  table = await database.newTable();
  const channel = opened();
  const isNotified = Promise.withResolvers<void>();
  const remove = channel.onNotification('a', () => isNotified.resolve());
  await channel.notify('a', { type: 'look' });
  await isNotified.promise;
  const isDeleted = Promise.withResolvers<void>();
  database.proxy.fault = async ({ operation }, forward) => {
    const reply = await forward();
    if (operation === 'DeleteItem') isDeleted.resolve();
    return reply;
  };
  remove();
  await isDeleted.promise;
  const Key = keyItem(notificationKey('a'));
  const reply = await database
    .client()
    .send(new GetItemCommand({ TableName: table, Key, ConsistentRead: true }));
  expect(reply.Item).toBeUndefined();
  await channel.close();
});

test('a channel whose table is missing is unavailable', async () => {
  table = 'missing';
  const channel = opened();
  const refused = { code: 'CHANNEL_UNAVAILABLE' };
  await expect(channel.notify('a', { type: 'look' })).rejects.toMatchObject(refused);
  const { signal } = new AbortController();
  await expect(channel.subscribe('a', () => undefined, { signal })).rejects.toMatchObject(refused);
  await channel.close();
});
