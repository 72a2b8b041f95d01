import assert from 'node:assert/strict';
import type { ChannelEntry, SessionChannel } from '@holdfast/core/channel';
import { HOSTILE_IDS } from '../store/case/hostile-ids.ts';
import {
  channelCase,
  numbered,
  numbers,
  type ChannelContext,
  type Subscription,
  type UngroupedChannelCase,
} from './channel-case.ts';

/** The longest tail of a channel that should keep about 2,000 entries. */
const MOST_ENTRIES = 4_000;

const ODD_TEXTS = ['', '\0', '\ud800', 'a\udfff', '🦊', '"\\', '\u2028', '__proto__', 'x'.repeat(300_000)];

/** A case of a channel that transports tails. */
function tailCase(name: string, act: (context: ChannelContext) => Promise<void>): UngroupedChannelCase {
  return channelCase(name, act, 'tail');
}

async function publishEach(channel: SessionChannel, from: number, to: number): Promise<void> {
  for (const n of numbers(from, to)) await channel.publish('a', [numbered(n)]);
}

/** The number of the last entry that arrived. */
function lastOf({ received }: Subscription): number | 'gap' | undefined {
  return received.at(-1);
}

export const tailCases: readonly UngroupedChannelCase[] = [
  tailCase('a subscriber receives each entry once, in order', async ({ channel, subscribed, until }) => {
    const subscription = await subscribed(channel, 'a');
    for (const n of [0, 3, 6, 9])
      await channel.publish(
        'a',
        [n, n + 1, n + 2].map((m) => numbered(m)),
      );
    await until('the last entry arrives', () => lastOf(subscription) === 11);
    assert.deepEqual(subscription.received, numbers(0, 11));
  }),
  tailCase('a subscriber has the tail when its subscription resolves', async ({ channel, subscribed }) => {
    await channel.publish('a', [numbered(0), numbered(1)]);
    await channel.publish('a', [numbered(2)]);
    assert.deepEqual((await subscribed(channel, 'a')).received, [0, 1, 2]);
  }),
  tailCase(
    'a subscriber that comes while entries are published misses none',
    async ({ channel, subscribed, until }) => {
      const publishing = publishEach(channel, 0, 60);
      const subscriptions = await Promise.all(numbers(0, 4).map(() => subscribed(channel, 'a')));
      await publishing;
      for (const subscription of subscriptions) {
        await until('the last entry arrives', () => lastOf(subscription) === 60);
        assert.deepEqual(subscription.received, numbers(0, 60));
      }
    },
  ),
  tailCase('an entry arrives as it was published', async ({ channel, subscribed, until }) => {
    const patch = JSON.parse('{"__proto__":[1e-7,null,""],"":{"constructor":"\\ud800"}}') as never;
    const others: ChannelEntry[] = [
      { ...numbered(20), change: { type: 'state', patch } },
      { ...numbered(21), change: { type: 'saved', version: 2, status: 'active', at: 1_800_000_000_000 } },
    ];
    const batch = [...ODD_TEXTS.map((text, n) => numbered(n, text)), ...others];
    const before = JSON.stringify(batch);
    const subscription = await subscribed(channel, 'a');
    await channel.publish('a', batch);
    await until('the batch arrives', () => subscription.entries.length === batch.length);
    assert.equal(JSON.stringify(subscription.entries), before);
    assert.equal(JSON.stringify((await subscribed(channel, 'a')).entries), before);
  }),
  tailCase('batches that are published at once do not mix', async ({ channel, subscribed, until }) => {
    const subscription = await subscribed(channel, 'a');
    const batches = numbers(0, 9).map((tens) => numbers(10 * tens, 10 * tens + 4).map((n) => numbered(n)));
    await Promise.all(batches.map((batch) => channel.publish('a', batch)));
    await until('all arrive', () => subscription.received.length === 50);
    const starts = subscription.received.filter((_, index) => index % 5 === 0);
    assert.deepEqual(
      subscription.received,
      starts.flatMap((start) => numbers(Number(start), Number(start) + 4)),
    );
  }),
  tailCase('a subscriber whose signal aborts receives nothing more', async (context) => {
    const { channel, subscribed, until, quiet } = context;
    const [one, other] = [await subscribed(channel, 'a'), await subscribed(channel, 'a')];
    await channel.publish('a', [numbered(0)]);
    await until('both receive it', () => one.received.length + other.received.length === 2);
    one.abort();
    await channel.publish('a', [numbered(1)]);
    await until('the other receives it', () => other.received.length === 2);
    await quiet();
    assert.deepEqual(one.received, [0]);
  }),
  tailCase('a subscription with an aborted signal resolves and receives nothing', async (context) => {
    const { channel, quiet } = context;
    await channel.publish('a', [numbered(0)]);
    let count = 0;
    await channel.subscribe('a', () => count++, { signal: AbortSignal.abort() });
    await channel.publish('a', [numbered(1)]);
    await quiet();
    assert.equal(count, 0);
  }),
  tailCase('a listener that throws does not keep entries from others', async (context) => {
    const { channel, subscribed, until } = context;
    const abortController = new AbortController();
    const throwing = (): never => {
      throw new Error('A listener throws.');
    };
    await channel.publish('a', [numbered(0)]);
    await channel.subscribe('a', throwing, { signal: abortController.signal });
    const subscription = await subscribed(channel, 'a');
    await channel.publish('a', [numbered(1)]);
    await until('the other listener receives it', () => lastOf(subscription) === 1);
    abortController.abort();
  }),
  tailCase('sessions whose ids are alike have tails of their own', async (context) => {
    const { channel, subscribed, until, quiet } = context;
    const first = HOSTILE_IDS.map((id) => numbered(0, id));
    const second = HOSTILE_IDS.map((id) => numbered(1, id));
    for (const [index, id] of HOSTILE_IDS.entries()) await channel.publish(id, [first[index] as never]);
    const all = await Promise.all(HOSTILE_IDS.map((id) => subscribed(channel, id)));
    for (const [index, id] of HOSTILE_IDS.entries()) await channel.publish(id, [second[index] as never]);
    await until('each arrives', () => all.every(({ entries }) => entries.length > 1));
    await quiet();
    for (const [index, { entries }] of all.entries()) {
      assert.equal(JSON.stringify(entries), JSON.stringify([first[index], second[index]]));
    }
  }),
];

export const trimCases: readonly UngroupedChannelCase[] = [
  tailCase('a trim removes what was published before, and not the batch', async (context) => {
    const { channel, subscribed, until } = context;
    await publishEach(channel, 0, 2);
    await channel.publish('a', [numbered(3), numbered(4)], { trim: true });
    await channel.publish('a', [numbered(5)]);
    await until('the tail is trimmed', async () => {
      const { received, abort } = await subscribed(channel, 'a');
      abort();
      assert.deepEqual(received.slice(-3), [3, 4, 5]);
      return received.length === 3;
    });
  }),
  tailCase('a trim with an empty batch removes the tail', async ({ channel, subscribed, until }) => {
    await publishEach(channel, 0, 2);
    await channel.publish('a', [], { trim: true });
    await until('the tail is empty', async () => {
      const { received, abort } = await subscribed(channel, 'a');
      abort();
      return received.length === 0;
    });
  }),
  tailCase('a subscriber receives what is trimmed after it, or a gap', async (context) => {
    const { channel, subscribed, until } = context;
    const subscription = await subscribed(channel, 'a');
    for (const n of numbers(0, 30)) await channel.publish('a', [numbered(n)], { trim: true });
    await until('the last entry arrives', () => lastOf(subscription) === 30);
    assertNoHiddenGap(subscription.received);
  }),
  tailCase('a trim of one session leaves the others', async ({ channel, subscribed }) => {
    await channel.publish('b', [numbered(0)]);
    await channel.publish('a', [numbered(1)], { trim: true });
    assert.deepEqual((await subscribed(channel, 'b')).received, [0]);
  }),
  tailCase('a tail is limited, and ends with the last entries', async ({ channel, subscribed }) => {
    const last = 2 * MOST_ENTRIES - 1;
    for (let n = 0; n <= last; n += 500)
      await channel.publish(
        'a',
        numbers(n, n + 499).map((m) => numbered(m)),
      );
    const { received } = await subscribed(channel, 'a');
    const shown = received.filter((n) => n !== 'gap');
    assert(shown.length > 0 && shown.length <= MOST_ENTRIES, `The tail has ${shown.length} entries.`);
    assert.deepEqual(shown, numbers(last - shown.length + 1, last));
  }),
];

/** Entries may be missing only where a gap was reported; none is out of order. */
function assertNoHiddenGap(received: readonly (number | 'gap')[]): void {
  for (const [index, n] of received.entries()) {
    const before = received[index - 1];
    if (n === 'gap' || before === 'gap' || before === undefined) continue;
    assert.equal(n, before + 1, `Entry ${n} follows entry ${before}, without a gap.`);
  }
  const shown = received.filter((n) => n !== 'gap');
  assert.deepEqual(
    shown,
    shown.toSorted((one, other) => one - other),
  );
}

export const sharingCases: readonly UngroupedChannelCase[] = [
  channelCase(
    'a subscriber in another process receives each entry once, in order',
    async ({ channel, reopen, subscribed, until }) => {
      await channel.publish('a', [numbered(0)]);
      const subscription = await subscribed(await reopen(), 'a');
      await publishEach(channel, 1, 30);
      await until('the last entry arrives', () => lastOf(subscription) === 30);
      assert.deepEqual(subscription.received, numbers(0, 30));
    },
    'tail',
    'reopen',
  ),
  channelCase(
    'subscribers of two processes receive entries of both in the same order',
    async ({ channel, reopen, subscribed, until }) => {
      const other = await reopen();
      const [one, two] = [await subscribed(channel, 'a'), await subscribed(other, 'a')];
      const odd = async (): Promise<void> => {
        for (let n = 1; n < 40; n += 2) await other.publish('a', [numbered(n)]);
      };
      const even = async (): Promise<void> => {
        for (let n = 0; n < 40; n += 2) await channel.publish('a', [numbered(n)]);
      };
      await Promise.all([odd(), even()]);
      await until('all arrive', () => one.received.length === 40 && two.received.length === 40);
      assert.deepEqual(one.received, two.received);
      assert.deepEqual(
        one.received.filter((n) => Number(n) % 2 === 0),
        numbers(0, 19).map((n) => 2 * n),
      );
    },
    'tail',
    'reopen',
  ),
];

export const lossCases: readonly UngroupedChannelCase[] = [
  channelCase(
    'after the transport has dropped everything, entries arrive again',
    async ({ channel, abilities, subscribed, until }) => {
      const subscription = await subscribed(channel, 'a');
      await channel.publish('a', [numbered(0)]);
      await until('the first entry arrives', () => lastOf(subscription) === 0);
      await abilities.drop?.();
      await until('a later entry arrives', async () => {
        const next = 1 + Math.max(0, ...subscription.received.filter((n) => n !== 'gap'));
        await channel.publish('a', [numbered(next)]).catch(() => undefined);
        return subscription.received.filter((n) => n !== 'gap').length > 2;
      });
      assert.equal((await subscribed(channel, 'a')).received.includes(0), false);
    },
    'tail',
    'drop',
  ),
  channelCase(
    'after a broken connection, a subscriber receives all, or a gap before what follows',
    async ({ channel, abilities, subscribed, until }) => {
      const subscription = await subscribed(channel, 'a');
      await publishEach(channel, 0, 4);
      await abilities.disconnect?.();
      let next = 5;
      await until('entries arrive again', async () => {
        const isPublished = await channel.publish('a', [numbered(next)]).then(
          () => true,
          () => false,
        );
        next += isPublished ? 1 : 0;
        return subscription.received.some((n) => n !== 'gap' && n > 7);
      });
      assertNoHiddenGap(subscription.received.filter((n, index, all) => n === 'gap' || n !== all[index - 1]));
    },
    'tail',
    'disconnect',
  ),
  channelCase(
    'after a broken connection, notifications arrive again',
    async ({ channel, abilities, notified, until }) => {
      const received = await notified(channel, 'a');
      await abilities.disconnect?.();
      await until('a notification arrives', async () => {
        await channel.notify('a', { type: 'look' }).catch(() => undefined);
        return received.length > 0;
      });
    },
    'disconnect',
  ),
];
