import {
  channelClosed,
  ChannelSubscription,
  writeChannelEntry,
  type ChannelCapabilities,
  type ChannelEntry,
  type ChannelNews,
  type ChannelNotification,
  type PublishOptions,
  type SessionChannel,
  type SubscribeOptions,
} from '@holdfast/core/channel';
import { mustBe } from '@holdfast/core/store';
import { closeOwnClient, type RedisConnection } from '../server/connect.ts';
import { checkClient, type RedisChannelClient } from '../server/redis-client.ts';
import { databaseOf } from '../server/selected-database.ts';
import { openOnServer, PREFIX_CHECK, serverChecks } from '../server/server-options.ts';
import { duplicateClient } from './channel-client.ts';
import { channelKeys, type ChannelKeys } from './channel-keys.ts';
import { RedisTail } from './redis-tail.ts';
import { shardOwners } from './shard-owners.ts';
import { ShardSubscriber } from './shard-subscriber.ts';
import { ChannelServer } from './channel-server.ts';
import { WorkerListeners } from './worker-listeners.ts';

/** The options of a channel in Redis, without its connection. */
export interface RedisChannelOptions {
  /** The start of all keys, without braces; default `holdfast`. A store can have the same prefix. */
  readonly prefix?: string | undefined;
}

/** The options of a channel with the options of a client. */
export interface RedisSessionChannelOptions extends RedisChannelOptions {
  /**
   * A client with `duplicate()`. The channel connects clients of its own with its options, and does not use the client
   * itself.
   */
  readonly client: RedisChannelClient;
}

/** The tail of one session, with its subscriptions. */
interface OpenTail {
  readonly tail: RedisTail;
  /** Resolves when the server has confirmed the subscription to the wake-up messages. */
  readonly isOpen: Promise<void>;
  readonly subscriptions: Set<ChannelSubscription>;
}

const CAPABILITIES: ChannelCapabilities = Object.freeze({ tail: 'deltas', delivery: 'pushed' });

const checks = serverChecks<RedisChannelOptions, RedisChannelClient>('RedisSessionChannel', PREFIX_CHECK, {
  client: mustBe.required(mustBe.objectWith('a client', ['duplicate'])),
});

/**
 * Connects workers, readers and callers through Redis or Valkey. A process has two connections for all its sessions; in a
 * Cluster, one for subscriptions on each master that holds a session, and as many for commands as ioredis needs.
 *
 * @example
 * const channel = await RedisSessionChannel.open({ url: 'redis://localhost' });
 */
export class RedisSessionChannel implements SessionChannel {
  readonly capabilities = CAPABILITIES;
  private readonly keysOf: (sessionId: string) => ChannelKeys;
  private readonly server: ChannelServer;
  private readonly subscriber: ShardSubscriber;
  private readonly tails = new Map<string, OpenTail>();
  private readonly workers: WorkerListeners;
  private isClosed = false;

  /**
   * Creates a channel with the options of a client, and connects.
   * @throws RangeError or TypeError `ARGUMENT_INVALID` for a client with a keyPrefix, an unknown option or an invalid value.
   */
  constructor(options: RedisSessionChannelOptions) {
    const { client, prefix = 'holdfast' } = checks.ofNew(options);
    checkClient(client);
    const commands = duplicateClient(client);
    const database = databaseOf(commands);
    this.keysOf = (sessionId) => channelKeys(prefix, database, sessionId);
    this.server = new ChannelServer(commands);
    this.subscriber = new ShardSubscriber(shardOwners(client, commands));
    this.workers = new WorkerListeners(this.server, this.subscriber, this.keysOf);
  }

  /**
   * Creates a channel, and connects.
   * @throws ChannelUnavailableError when no server replies; RangeError or TypeError `ARGUMENT_INVALID` for an unknown option,
   * an invalid value or a missing server.
   */
  static open(options: RedisChannelOptions & RedisConnection): Promise<RedisSessionChannel> {
    const open = async (given: RedisSessionChannelOptions): Promise<RedisSessionChannel> => {
      const channel = new RedisSessionChannel(given);
      try {
        await closeOwnClient(given.client); // the channel has clients of its own
        await channel.server.ping();
        return channel;
      } catch (error) {
        await channel.close();
        throw error;
      }
    };
    return openOnServer(checks, options, open, { lazyConnect: true });
  }

  async publish(
    sessionId: string,
    batch: readonly ChannelEntry[],
    { trim = false }: PublishOptions = {},
  ): Promise<void> {
    this.requireOpen();
    if (batch.length === 0 && !trim) return;
    await this.server.publish(this.keysOf(sessionId), batch.map(writeChannelEntry), trim);
  }

  async subscribe(
    sessionId: string,
    listener: (news: ChannelNews) => void,
    { signal }: SubscribeOptions,
  ): Promise<void> {
    this.requireOpen();
    if (signal.aborted) return;
    const open = this.openTail(sessionId);
    const subscription = new ChannelSubscription(listener, signal, () =>
      this.leave(sessionId, open, subscription),
    );
    open.subscriptions.add(subscription);
    await subscription.begin(async () => {
      await open.isOpen;
      await open.tail.join(subscription);
    });
  }

  async notify(sessionId: string, notification: ChannelNotification): Promise<void> {
    this.requireOpen();
    await this.workers.notify(sessionId, notification);
  }

  onNotification(sessionId: string, listener: (notification: ChannelNotification) => void): () => void {
    if (this.isClosed) return () => undefined;
    return this.workers.add(sessionId, listener);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    for (const { subscriptions } of this.tails.values())
      for (const subscription of subscriptions) subscription.end();
    this.workers.clear();
    this.subscriber.close();
    this.server.close();
  }

  private requireOpen(): void {
    if (this.isClosed) throw channelClosed();
  }

  private openTail(sessionId: string): OpenTail {
    const known = this.tails.get(sessionId);
    if (known) return known;
    const { tail: key, wake } = this.keysOf(sessionId);
    const tail = new RedisTail((after) => this.server.read(key, after));
    const isOpen = this.subscriber.add(wake, {
      receive: (message) => tail.announce(message),
      catchUp: async (isInDoubt) => tail.catchUp(isInDoubt),
    });
    const created = { tail, isOpen, subscriptions: new Set<ChannelSubscription>() };
    this.tails.set(sessionId, created);
    return created;
  }

  /** Ends a subscription. The last one ends the tail. */
  private leave(sessionId: string, open: OpenTail, subscription: ChannelSubscription): void {
    open.subscriptions.delete(subscription);
    open.tail.leave(subscription);
    if (open.subscriptions.size > 0 || this.tails.get(sessionId) !== open) return;
    this.tails.delete(sessionId);
    this.subscriber.remove(this.keysOf(sessionId).wake);
  }
}
