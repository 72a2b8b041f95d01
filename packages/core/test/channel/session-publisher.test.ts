import { createAgentLoop, MemorySessionStore, sendMessage, SessionRuntime } from '@holdfast/core';
import { MemorySessionChannel, type ChannelEntry, type PublishOptions } from '@holdfast/core/channel';
import { manualClock } from '@holdfast/core/testing';
import { expect, test } from 'vitest';
import { driverOf } from '../support/builders.ts';

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A channel that notes the batches, and refuses as many as it is told to. */
class NotingChannel extends MemorySessionChannel {
  readonly batches: (readonly ChannelEntry[])[] = [];
  refusals = 0;
  /** The reply to each batch. */
  reply = Promise.resolve();

  override async publish(
    sessionId: string,
    batch: readonly ChannelEntry[],
    options?: PublishOptions,
  ): Promise<void> {
    if (this.refusals-- > 0) throw new Error('The channel is not available.');
    this.batches.push(batch);
    await this.reply;
    return super.publish(sessionId, batch, options);
  }

  get texts(): readonly (readonly string[])[] {
    return this.batches.map((batch) =>
      batch.flatMap(({ change }) => (change.type === 'delta' ? [change.delta.text] : [])),
    );
  }
}

type Act = (worker: {
  readonly channel: NotingChannel;
  readonly write: (...texts: readonly string[]) => void;
  readonly wait: (milliseconds: number) => Promise<void>;
}) => Promise<void>;

/** Runs a model that writes text while `act` waits, and returns the channel. */
async function published(act: Act, { isStepPublished = true } = {}): Promise<NotingChannel> {
  const clock = manualClock(1_000_000);
  const channel = new NotingChannel({ clock });
  const wait = async (milliseconds: number): Promise<void> => {
    clock.advance(milliseconds);
    await settled();
  };
  const driver = driverOf(async (_, { onDelta }) => {
    if (isStepPublished) await wait(50);
    const write = (...texts: readonly string[]): void => {
      for (const text of texts) onDelta?.({ type: 'text', id: '0', text });
    };
    channel.batches.length = 0;
    await act({ channel, write, wait });
    return { content: [{ type: 'text', text: 'The end.' }] };
  });
  const store = new MemorySessionStore({ clock });
  const agents = { a: createAgentLoop({ driver, clock }) };
  const runtime = new SessionRuntime({ store, agents, clock, channel });
  const { sessionId } = await runtime.create({ definition: { name: 'a' } });
  await runtime.execute(sessionId, sendMessage('Hello'));
  return channel;
}

test('the first delta of a response is published at once, and the deltas of 50 milliseconds behind it as one entry', async () => {
  const more = Array.from({ length: 2_000 }, (_, index) => `${index} `);
  const { texts } = await published(async ({ channel, write, wait }) => {
    write('First. ', ...more);
    expect(channel.texts).toEqual([['First. ']]);
    await wait(0);
    await wait(49);
    write('of 2000.');
    await wait(1);
    write('Next.');
    await wait(50);
    await wait(50); // without news there is no batch
  });
  expect(texts.slice(0, 3)).toEqual([['First. '], [`${more.join('')}of 2000.`], ['Next.']]);
  expect(texts.slice(3).flat()).toEqual([]);
});

test('a first delta follows right after a batch that is on its way', async () => {
  const reply = Promise.withResolvers<void>();
  const act: Act = async ({ channel, write, wait }) => {
    channel.reply = reply.promise;
    await wait(50);
    expect(channel.batches.length).toBe(1);
    write('First. ', 'Next.');
    expect(channel.batches.length).toBe(1);
    reply.resolve();
    await wait(0);
    expect(channel.texts.flat()).toEqual(['First. Next.']);
  };
  await published(act, { isStepPublished: false });
});

test('after a refused batch, the next one has all text since the last save', async () => {
  const { texts } = await published(async ({ channel, write, wait }) => {
    write('one ');
    await wait(50);
    channel.refusals = 1;
    write('two ');
    await wait(50);
    write('three');
    await wait(1_000);
  });
  expect(texts.slice(0, 2)).toEqual([['one '], ['one two three']]);
});
