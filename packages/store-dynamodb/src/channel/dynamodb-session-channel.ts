import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import {
  channelClosed,
  ChannelSubscription,
  writeChannelNotification,
  type ChannelCapabilities,
  type ChannelNews,
  type ChannelNotification,
  type SessionChannel,
  type SubscribeOptions,
} from '@holdfast/core/channel';
import { mustBe } from '@holdfast/core/store';
import { destroyOwnClient, openOnTable, TABLE_CHECK, tableChecks } from '../table/client.ts';
import type { DynamoDbSender } from '../table/requests.ts';
import { ChannelPoll } from './channel-poll.ts';
import { ChannelTable } from './channel-table.ts';

/** The options of a channel, without its client. */
export interface DynamoDbChannelOptions {
  /** The name of the table of the sessions. */
  readonly table: string;
  /** The seconds between two polls, default 0.8, at most 1. A poll costs half a read unit or more for each session. */
  readonly pollSeconds?: number | undefined;
}

/** The options of `new DynamoDbSessionChannel`. */
export interface DynamoDbSessionChannelOptions extends DynamoDbChannelOptions {
  /** A `DynamoDBClient`, which the caller closes. */
  readonly client: DynamoDbSender;
}

/** The options of `DynamoDbSessionChannel.open`, which are those of its client too. */
export interface OpenDynamoDbChannelOptions
  extends DynamoDbChannelOptions, Pick<DynamoDBClientConfig, 'credentials' | 'endpoint' | 'region'> {}

const DEFAULT_POLL_SECONDS = 0.8;
const LONGEST_POLL_SECONDS = 1;
const CAPABILITIES: ChannelCapabilities = Object.freeze({ tail: 'saves', delivery: 'polled' });

const checks = tableChecks<DynamoDbChannelOptions>(
  'DynamoDbSessionChannel',
  { ...TABLE_CHECK, pollSeconds: mustBe.number(Number.MIN_VALUE, LONGEST_POLL_SECONDS) },
  { pollMilliseconds: 'use "pollSeconds"' },
);

/**
 * Connects workers, readers and callers through the table of the sessions. It transports no deltas: readers see one saved
 * step after another. A process polls the sessions that it reads or works on.
 *
 * @example
 * const channel = new DynamoDbSessionChannel({ client: new DynamoDBClient({}), table: 'sessions' });
 */
export class DynamoDbSessionChannel implements SessionChannel {
  readonly capabilities = CAPABILITIES;
  private readonly table: ChannelTable;
  private readonly poll: ChannelPoll;
  private readonly subscriptions = new Set<ChannelSubscription>();
  private readonly client: DynamoDbSender;
  private isClosed = false;

  /** @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or an invalid value */
  constructor(options: DynamoDbSessionChannelOptions) {
    const { client, table, pollSeconds = DEFAULT_POLL_SECONDS } = checks.ofNew(options);
    this.client = client;
    this.table = new ChannelTable(client, table);
    this.poll = new ChannelPoll(this.table, pollSeconds * 1_000);
  }

  /**
   * Creates a channel and its client, which `close` destroys. Sends no request yet.
   * @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or an invalid value
   */
  static open(options: OpenDynamoDbChannelOptions): Promise<DynamoDbSessionChannel> {
    return openOnTable(checks, options, async (given) => new DynamoDbSessionChannel(given));
  }

  /** Writes nothing: the header of a session shows its saves. */
  async publish(): Promise<void> {
    this.requireOpen();
  }

  async subscribe(
    sessionId: string,
    listener: (news: ChannelNews) => void,
    { signal }: SubscribeOptions,
  ): Promise<void> {
    this.requireOpen();
    if (signal.aborted) return;
    const subscription = new ChannelSubscription(listener, signal, (ended) => {
      this.subscriptions.delete(ended);
      this.poll.unsubscribe(sessionId, ended);
    });
    this.subscriptions.add(subscription);
    await subscription.begin(() => this.poll.subscribe(sessionId, subscription));
  }

  async notify(sessionId: string, notification: ChannelNotification): Promise<void> {
    this.requireOpen();
    await this.table.putNotification(sessionId, writeChannelNotification(notification));
  }

  onNotification(sessionId: string, listener: (notification: ChannelNotification) => void): () => void {
    if (this.isClosed) return () => undefined;
    return this.poll.add(sessionId, listener);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    for (const subscription of this.subscriptions) subscription.end();
    this.poll.close();
    destroyOwnClient(this.client);
  }

  private requireOpen(): void {
    if (this.isClosed) throw channelClosed();
  }
}
