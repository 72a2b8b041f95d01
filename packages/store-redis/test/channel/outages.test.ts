import { RedisSessionChannel } from '@holdfast/store-redis';
import { RedisServer, until } from 'test-servers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { entry, Recorder } from '../support/channel-harness.ts';

let server: RedisServer;
let channels: RedisSessionChannel[];

beforeEach(async () => {
  server = await RedisServer.start({ args: ['--appendonly', 'yes', '--appendfsync', 'always'] });
  channels = [];
});

afterEach(async () => {
  for (const channel of channels) await channel.close();
  await server.stop();
});

async function opened(): Promise<RedisSessionChannel> {
  const channel = await RedisSessionChannel.open({ url: `redis://127.0.0.1:${server.port}` });
  channels.push(channel);
  return channel;
}

/** Publishes an entry until the server has it. */
async function published(channel: RedisSessionChannel, n: number): Promise<void> {
  await until(`entry ${n} is published`, async () => {
    const done = channel.publish('a', [entry(n)]).then(() => true);
    return done.catch(() => false);
  });
}

test('a batch for a server that is away is refused, and never arrives', async () => {
  const worker = await opened();
  const reader = new Recorder();
  await (await opened()).subscribe('a', reader.listener, reader);
  await worker.publish('a', [entry(0)]);
  await until('it arrives', () => reader.received.length === 1);
  await server.kill();
  await expect(worker.publish('a', [entry(7)])).rejects.toMatchObject({ code: 'CHANNEL_UNAVAILABLE' });
  await expect(worker.notify('a', { type: 'look' })).rejects.toMatchObject({ code: 'CHANNEL_UNAVAILABLE' });
  await server.restart();
  await published(worker, 1);
  await until('the next entry arrives', () => reader.received.at(-1) === 1);
  const shown = reader.received.filter((n, index, all) => n !== all[index - 1]); // a reply can be lost
  expect(shown).toEqual([0, 1]); // the server has kept its stream, so the reader knows that it missed no entry
  reader.abort();
});

test('a server that has lost its streams in a crash makes a gap, and notifications arrive again', async () => {
  const worker = await opened();
  const reader = new Recorder();
  const readerChannel = await opened();
  await readerChannel.subscribe('a', reader.listener, reader);
  await worker.publish('a', [entry(0)]);
  await until('it arrives', () => reader.received.length === 1);
  let notices = 0;
  worker.onNotification('a', () => notices++);
  await server.kill();
  await server.lose();
  await server.restart();
  await published(worker, 1);
  await until('the next entry arrives', () => reader.received.at(-1) === 1);
  expect(reader.received.filter((n) => n !== 'gap')).toEqual([0, 1]);
  expect(reader.received[1]).toBe('gap');
  await until('a notification arrives', async () => {
    await readerChannel.notify('a', { type: 'stop', executionId: 'e' }).catch(() => undefined);
    return notices > 0;
  });
  reader.abort();
});

test('a worker receives a notification that was sent just before it listened', async () => {
  const [worker, caller] = [await opened(), await opened()];
  await caller.notify('a', { type: 'stop', executionId: 'e' });
  const notification = await new Promise((resolve) => worker.onNotification('a', resolve));
  expect(notification).toEqual({ type: 'stop', executionId: 'e' });
});

test('open and subscribe reject without a server', async () => {
  const channel = await opened();
  await server.kill();
  const reader = new Recorder();
  const calls = [channel.subscribe('a', reader.listener, reader), opened()];
  const refused = { status: 'rejected', reason: { code: 'CHANNEL_UNAVAILABLE' } };
  await expect(Promise.allSettled(calls)).resolves.toMatchObject([refused, refused]);
  await server.restart();
  await published(channel, 0);
  expect(reader.received).toEqual([]);
});
