import { setImmediate } from 'node:timers/promises';
import { ChannelSubscription, writeChannelEntry } from '@holdfast/core/channel';
import { expect, test } from 'vitest';
import type { EntryId } from '../../src/channel/entry-id.ts';
import { RedisTail, type TailEntry } from '../../src/channel/redis-tail.ts';
import { entry, Recorder } from '../support/channel-harness.ts';

/** A stream, and a reader of its tail. */
class Stream {
  entries: TailEntry[] = [];
  error: Error | undefined;
  reads = 0;
  readonly tail = new RedisTail(async (after) => this.read(after));
  readonly reader = new Recorder();

  /** Adds an entry with a number, without an announcement. */
  add(number: number, { generation = 7, n = number } = {}): void {
    this.entries.push({ id: { generation, number }, text: writeChannelEntry(entry(n)) });
  }

  async join(): Promise<void> {
    const { listener, signal } = this.reader;
    const leave = (subscription: ChannelSubscription): void => this.tail.leave(subscription);
    await this.tail.join(new ChannelSubscription(listener, signal, leave));
  }

  /** Announces an entry, and returns what the reader has received since the last call. */
  async announced(id: string): Promise<readonly (number | 'gap')[]> {
    this.tail.announce(id);
    return this.received();
  }

  async received(): Promise<readonly (number | 'gap')[]> {
    await setImmediate();
    return this.reader.received.splice(0);
  }

  /** The message of a batch of entries. */
  message(...numbers: readonly number[]): string {
    return [`7-${numbers.at(-1)}`, ...numbers.map((n) => writeChannelEntry(entry(n)))].join('\n');
  }

  private read(after: EntryId | undefined): readonly TailEntry[] {
    this.reads++;
    if (this.error) throw this.error;
    const isLater = ({ generation, number }: EntryId): boolean =>
      after === undefined ||
      generation > after.generation ||
      (generation === after.generation && number > after.number);
    return this.entries.filter(({ id }) => isLater(id));
  }
}

async function joined(...numbers: readonly number[]): Promise<Stream> {
  const stream = new Stream();
  for (const number of numbers) stream.add(number);
  await stream.join();
  stream.reader.received.length = 0;
  return stream;
}

test('entries that follow each other arrive once, with late announcements too', async () => {
  const stream = await joined(0, 1);
  stream.add(2);
  stream.add(3);
  await expect(stream.announced('7-2')).resolves.toEqual([2, 3]);
  await expect(stream.announced('7-3')).resolves.toEqual([]);
});

test('a message with the next entries is delivered without a read', async () => {
  const stream = await joined(0, 1);
  await expect(stream.announced(stream.message(2, 3))).resolves.toEqual([2, 3]);
  await expect(stream.announced(stream.message(4))).resolves.toEqual([4]);
  expect(stream.reads).toBe(1);
  const empty = await joined();
  await expect(empty.announced(empty.message(0))).resolves.toEqual([0]);
  expect(empty.reads).toBe(1);
});

test('a message with other entries than the next ones is a reason to read', async () => {
  const stream = await joined(0, 1);
  for (const number of [2, 3, 4]) stream.add(number);
  await expect(stream.announced(stream.message(3))).resolves.toEqual([2, 3, 4]); // the message before it was lost
  await expect(stream.announced(stream.message(4))).resolves.toEqual([]); // it is late
  stream.add(5);
  stream.tail.catchUp(true);
  await expect(stream.announced(stream.message(5))).resolves.toEqual([5]); // it arrives during a read
});

test.each<[string, (stream: Stream) => void, string, readonly (number | 'gap')[]]>([
  ['a trim that was not followed', (stream) => stream.add(3), '7-3', ['gap', 3]],
  ['a new stream', (stream) => stream.add(0, { generation: 8, n: 5 }), '8-0', ['gap', 5]],
  ['entries that were removed before they were read', () => undefined, '7-4', ['gap']],
])('%s is a gap', async (_, act, id, expected) => {
  const stream = await joined(0, 1);
  stream.entries = [];
  act(stream);
  await expect(stream.announced(id)).resolves.toEqual(expected);
});

test('the first entry of an empty stream makes no gap, a later entry does', async () => {
  const [first, later] = [await joined(), await joined()];
  first.add(0);
  later.add(1);
  await expect(first.announced('7-0')).resolves.toEqual([0]);
  await expect(later.announced('7-1')).resolves.toEqual(['gap', 1]);
});

test('after a broken connection, the last entry shows whether entries are missing', async () => {
  const same = await joined(0, 1);
  same.add(2);
  same.tail.catchUp(true);
  await expect(same.received()).resolves.toEqual([2]);

  const lost = await joined(0, 1);
  lost.entries = [];
  lost.tail.catchUp(true);
  await expect(lost.received()).resolves.toEqual(['gap']);

  const replaced = await joined(0, 1); // a replica without the last entry became the master
  replaced.entries.pop();
  replaced.add(1, { n: 5 });
  replaced.add(2, { n: 6 });
  replaced.tail.catchUp(true);
  await expect(replaced.received()).resolves.toEqual(['gap', 6]);
});

test('entries that have ids of lost ones arrive after the gap', async () => {
  const stream = await joined(0, 1, 2);
  await stream.announced('7-3'); // the reader never receives it: a replica without it became the master
  stream.entries.length = 1;
  stream.tail.catchUp(true);
  await expect(stream.received()).resolves.toEqual(['gap']);
  stream.add(1, { n: 5 });
  await expect(stream.announced('7-1')).resolves.toEqual([5]);
});

test('a failed read rejects those that join, and is repeated for the others', async () => {
  const stream = await joined(0);
  stream.error = new Error('The connection is broken.');
  stream.add(1);
  await expect(stream.announced('7-1')).resolves.toEqual([]);
  await expect(stream.join()).rejects.toThrow('The connection is broken.');
  stream.error = undefined;
  await expect(stream.announced('7-1')).resolves.toEqual([1]);
  stream.reader.abort();
});
