import assert from 'node:assert/strict';
import { mustBe, optionsCheck } from '@holdfast/core/engine';
import type { ChannelEntry, ChannelNotification, SessionChannel } from '@holdfast/core/channel';
import { harnessChecks, type Closable, type Harness } from '../run/harness.ts';
import { waitChecks, Waiting, type WaitTimes } from '../run/waiting.ts';

/** A channel, and the function that removes it. A case may have closed the channel before. */
export interface ChannelUnderTest extends Closable {
  readonly channel: SessionChannel;
}

/** Creates a channel on an empty transport. */
export type CreateChannel = () => Promise<ChannelUnderTest>;

/** The abilities of a harness for channels. Cases that need a missing ability are skipped. */
export interface ChannelAbilities extends WaitTimes {
  /** The channel transports tails: its capability `tail` is `deltas`. */
  readonly tail?: boolean | undefined;
  /** Creates another channel on the transport of the channel that `create` created last, as another process does. */
  readonly reopen?: CreateChannel | undefined;
  /** Removes all tails from the transport of the last channel, as a restart of its server does. */
  readonly drop?: (() => Promise<void>) | undefined;
  /**
   * Breaks the connections of the channels on the last transport. They can connect again at once. The promise resolves
   * after the connections are broken.
   */
  readonly disconnect?: (() => Promise<void>) | undefined;
  /**
   * The approximate time in milliseconds until a published batch arrives, such as the interval of a poll. Cases wait 25
   * times as long to see that an event does not happen. The default is 0: then cases wait for turns of the event loop.
   * Cases of `reopen` have turns of at least 2 ms.
   */
  readonly turnMilliseconds?: number | undefined;
}

/** Creates the channels of the cases, and declares their abilities. */
export interface ChannelHarness extends Harness<CreateChannel>, ChannelAbilities {}

export const checkChannelHarness = optionsCheck<ChannelHarness>('the harness of a channel', {
  ...harnessChecks,
  ...waitChecks,
  tail: mustBe.boolean,
  reopen: mustBe.function,
  drop: mustBe.function,
  disconnect: mustBe.function,
});

/** The part of the contract that a case belongs to. */
export type ChannelGroup =
  | 'capabilities'
  | 'notifications'
  | 'closing'
  | 'tails'
  | 'trims'
  | 'sharing'
  | 'readers'
  | 'losses';

/** An ability that a case can need. */
export type ChannelAbility = 'tail' | 'reopen' | 'drop' | 'disconnect';

/** A requirement on every session channel. */
export interface ChannelCase {
  readonly group: ChannelGroup;
  /** The name of the case. It is unique. */
  readonly name: string;
  /** The abilities that the case needs. */
  readonly needs?: readonly ChannelAbility[] | undefined;
  /** Runs the case. Rejects when the channel does not meet the requirement. */
  readonly run: (createChannel: CreateChannel, abilities?: ChannelAbilities) => Promise<void>;
}

/** A case without its group. */
export type UngroupedChannelCase = Omit<ChannelCase, 'group'>;

/** A subscription of a case. */
export interface Subscription {
  /** The numbers of the received entries, in order; `gap` for a gap. */
  readonly received: (number | 'gap')[];
  /** The received entries. */
  readonly entries: ChannelEntry[];
  readonly abort: () => void;
}

/** The environment of a case. */
export interface ChannelContext {
  readonly channel: SessionChannel;
  readonly abilities: ChannelAbilities;
  /** Opens another channel on the same transport. The case needs the ability `reopen`. */
  readonly reopen: () => Promise<SessionChannel>;
  /** Subscribes to a session, and records what arrives. */
  readonly subscribed: (channel: SessionChannel, sessionId: string) => Promise<Subscription>;
  /** Registers a listener, and returns the notifications that it receives. It is registered when this resolves. */
  readonly notified: (channel: SessionChannel, sessionId: string) => Promise<ChannelNotification[]>;
  /** Resolves when `holds` returns true. Fails after a long time, with `what` in its message. */
  readonly until: (what: string, holds: () => boolean | Promise<boolean>) => Promise<void>;
  /** Resolves after the time in which everything that was published must have arrived. */
  readonly quiet: () => Promise<void>;
}

/** Creates a case. It ends by aborting its subscriptions and removing its listeners. */
export function channelCase(
  name: string,
  act: (context: ChannelContext) => Promise<void>,
  ...needs: ChannelAbility[]
): UngroupedChannelCase {
  return {
    name,
    ...(needs.length > 0 && { needs }),
    async run(createChannel, abilities = {}) {
      const { channel } = await createChannel();
      const stage = new Stage(abilities, needs.includes('reopen') ? 2 : 0);
      try {
        await act({ ...stage.context, channel });
      } finally {
        stage.clear();
      }
    },
  };
}

/** The state of one run of a case. */
class Stage {
  readonly context: Omit<ChannelContext, 'channel'>;
  private readonly waiting: Waiting;
  private readonly ends: (() => void)[] = [];

  constructor(abilities: ChannelAbilities, shortestTurn: number) {
    const waiting = new Waiting(abilities, shortestTurn);
    this.waiting = waiting;
    this.context = {
      abilities,
      reopen: async () => {
        assert(abilities.reopen, 'The case needs the ability "reopen".');
        return (await abilities.reopen()).channel;
      },
      subscribed: (channel, sessionId) => this.subscribed(channel, sessionId),
      notified: (channel, sessionId) => this.notified(channel, sessionId),
      until: (what, holds) => waiting.until(what, holds),
      quiet: () => waiting.quiet(),
    };
  }

  clear(): void {
    for (const end of this.ends) end();
  }

  private async subscribed(channel: SessionChannel, sessionId: string): Promise<Subscription> {
    const abortController = new AbortController();
    const abort = (): void => abortController.abort();
    const subscription: Subscription = { received: [], entries: [], abort };
    this.ends.push(abort);
    const { signal } = abortController;
    await channel.subscribe(
      sessionId,
      (news) => {
        if (news.type === 'gap') subscription.received.push('gap');
        else record(subscription, news.entries);
      },
      { signal },
    );
    return subscription;
  }

  private async notified(channel: SessionChannel, sessionId: string): Promise<ChannelNotification[]> {
    const all: ChannelNotification[] = [];
    this.ends.push(channel.onNotification(sessionId, (notification) => all.push(notification)));
    await this.waiting.until('a notification arrives', async () => {
      await channel.notify(sessionId, { type: 'look', executionId: READY });
      return all.length > 0;
    });
    await this.waiting.quiet();
    all.length = 0;
    return all;
  }
}

/** The execution of the notifications that show whether a listener is registered. */
const READY = 'ready?';

function record({ received, entries }: Subscription, added: readonly ChannelEntry[]): void {
  entries.push(...added);
  received.push(...added.map(({ n }) => n));
}

/** An entry with a number. */
export function numbered(n: number, text = String(n)): ChannelEntry {
  const change = { type: 'delta', stepId: 's', attempt: 1, delta: { type: 'text', id: '0', text } } as const;
  return { incarnation: 'i', epoch: 1, series: 0, n, base: 1, executionId: 'e', change };
}

/** The numbers from one to another, both included. */
export function numbers(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}
