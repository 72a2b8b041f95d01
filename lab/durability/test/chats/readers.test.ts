import { until } from 'test-servers';
import { describe, expect, test } from 'vitest';
import type { ChannelCounts } from '../../src/chats/counted-channel.ts';
import { ChatReply, messageBody } from './support/chat-client.ts';
import { EFFORT } from '../effort.ts';
import { SHARED_STORES, storeOfBlock } from './support/chat-stores.ts';
import { ChatWorld } from './support/chat-world.ts';

const READERS = 1_000;
/** The default of the handler. */
const STREAMS = 50;
/** Redis stores no larger value than 8 MB, and a response has less than that with the text around it. */
const LONG = 7_000_000;

describe.each(SHARED_STORES)('readers on $name', (tested) => {
  const store = storeOfBlock(tested);

  const stats = async ({ url }: ChatWorld): Promise<ChannelCounts & { readonly bytes: number }> =>
    JSON.parse(await (await ChatReply.of(`${url}/stats`)).text());
  const follow = ({ url }: ChatWorld, owner?: string): Promise<ChatReply> =>
    ChatReply.of(`${url}/api/chat/c1/stream`, owner === undefined ? {} : { owner });
  /** Sends a message whose response nobody reads. */
  const send = async ({ url }: ChatWorld, text: string): Promise<void> => {
    const reply = await ChatReply.of(`${url}/api/chat`, { method: 'POST', body: messageBody(text) });
    expect(reply.status).toBe(200);
    reply.close();
  };
  const hasEnded = async (world: ChatWorld): Promise<boolean> =>
    !(await world.session()).state.hasActiveExecution;

  test(`${READERS} readers share one subscription, and all get the end`, async () => {
    await using world = await ChatWorld.of(store);
    await world.startBoth({ streams: READERS });
    await send(world, 'Take [a]the train.');
    await world.reaches('a');
    await until('the stream of the sender is closed', async () => (await stats(world)).open === 0);
    const { subscriptions } = await stats(world);
    const readers = await Promise.all(Array.from({ length: READERS }, () => follow(world)));
    expect(new Set(readers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await stats(world)).toMatchObject({ open: 1, subscriptions: subscriptions + 1 });
    const answers = readers.map((reader) => reader.answer());
    world.gates.open('a');
    const end = { type: 'finish', finishReason: 'stop' };
    for (const answer of answers) expect(await answer).toEqual({ text: 'Take the train.', end });
    await until('the subscription has ended', async () => (await stats(world)).open === 0);
  });

  test('readers that do not read cost no memory, hold no run up, and count', async () => {
    await using world = await ChatWorld.of(store);
    await world.startBoth();
    await send(world, `call work {"gate":"w"}\nwrite ${LONG}`);
    await world.reaches('w');
    await until('the stream of the sender is closed', async () => (await stats(world)).open === 0);
    const readers = await Promise.all(Array.from({ length: STREAMS }, () => follow(world)));
    expect(new Set(readers.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await follow(world)).status).toBe(429);
    const before = (await stats(world)).bytes;
    let most = before;
    world.gates.open('w');
    await until('the run has ended', async () => {
      most = Math.max(most, (await stats(world)).bytes);
      return hasEnded(world);
    });
    const [first, ...others] = readers;
    const { text, end } = (await first?.answer()) ?? {};
    expect(text?.length).toBeGreaterThanOrEqual(LONG);
    expect(end).toEqual({ type: 'finish', finishReason: 'stop' });
    most = Math.max(most, (await stats(world)).bytes);
    if (EFFORT > 1) console.log(`${tested.name}: ${STREAMS} slow readers, ${(most - before) / 1e6} MB`);
    expect(most - before).toBeLessThan((STREAMS * LONG) / 3);
    for (const reader of others) reader.close();
    await until('the streams are closed', async () => (await stats(world)).open === 0);
  });

  test('a thousand streams of one owner are refused, and other owners are served', async () => {
    await using world = await ChatWorld.of(store);
    await world.startBoth();
    await send(world, 'call work {"gate":"w"}\nIt is done.');
    await world.reaches('w');
    await until('the stream of the sender is closed', async () => (await stats(world)).open === 0);
    const readers = await Promise.all(Array.from({ length: READERS }, () => follow(world)));
    const [served, refused] = [200, 429].map((status) => readers.filter((each) => each.status === status));
    expect([served?.length, refused?.length]).toEqual([STREAMS, READERS - STREAMS]);
    const body = messageBody('Take the bus.');
    const other = await ChatReply.of(`${world.url}/api/chat`, { method: 'POST', body, owner: 'eve' });
    expect(await other.answer()).toMatchObject({ text: 'Take the bus.', end: { type: 'finish' } });
    served?.pop()?.close();
    await until('the closed stream has given its place back', async () => {
      const reader = await follow(world);
      if (reader.status === 200) served?.push(reader);
      return reader.status === 200;
    });
    world.gates.open('w');
    for (const reader of served ?? []) expect((await reader.answer()).text).toBe('It is done.');
  });
});
