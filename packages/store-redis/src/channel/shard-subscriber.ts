import { ChannelUnavailableError } from '@holdfast/core/channel';
import { ShardConnection } from './shard-connection.ts';
import type { ShardOwners } from './shard-owners.ts';

/**
 * The time between two checks. A subscriber sends nothing, so it does not notice a server that hangs or a network
 * that is broken.
 */
const CHECK_PAUSE_MS = 15_000;
/**
 * On one server, a subscription reads at every fourth check what came without a message: a message is lost only with its
 * connection. In a Cluster it reads at each check: a slot that moves has messages on two masters.
 */
const CHECKS_TO_READ = 4;
/** The time between two attempts to subscribe, and after which a new subscription fails. */
const RETRY_PAUSE_MS = 250;
const LONGEST_ATTEMPT_MS = 3_000;

/** The listener of a shard channel. */
export interface ShardListener {
  readonly receive: (message: string) => void;
  /**
   * Reads what may have been sent without a message to the listener.
   * @param isInDoubt true when the server may have lost data
   */
  readonly catchUp: (isInDoubt: boolean) => Promise<void>;
}

/** A subscription to a shard channel. */
interface ShardSubscription extends ShardListener {
  readonly channel: string;
  /** The connection that was asked last. */
  connection?: ShardConnection | undefined;
  /** The connection that has confirmed the subscription, and is not broken since. */
  confirmedBy?: ShardConnection | undefined;
  /** How often the subscription was lost. */
  losses: number;
  /** The checks at which the subscription reads, of every four. */
  readonly turn: number;
  isTrying: boolean;
}

/**
 * The subscriptions of a process to shard channels, over one connection; in a Cluster, over one for each master that holds
 * a channel. A subscription that is lost is made again on the server that holds the channel then, until it is confirmed.
 */
export class ShardSubscriber {
  private readonly owners: ShardOwners;
  private readonly subscriptions = new Map<string, ShardSubscription>();
  private readonly connections = new Map<string, ShardConnection>();
  /** The lost subscriptions that no server has confirmed again. */
  private readonly lost = new Set<ShardSubscription>();
  private readonly checks: NodeJS.Timeout;
  private turn = 0;
  private retry: NodeJS.Timeout | undefined;

  constructor(owners: ShardOwners) {
    this.owners = owners;
    owners.onRefresh(() => this.follow());
    this.checks = setInterval(() => void this.check(), CHECK_PAUSE_MS);
    this.checks.unref();
  }

  /**
   * Subscribes to a shard channel, with one listener. Resolves when the server has confirmed it.
   * @throws ChannelUnavailableError without a confirmation. The subscriber then tries again, until the channel is removed.
   */
  async add(channel: string, listener: ShardListener): Promise<void> {
    const turn = this.subscriptions.size % CHECKS_TO_READ;
    const subscription: ShardSubscription = { ...listener, channel, losses: 0, turn, isTrying: true };
    this.subscriptions.set(channel, subscription);
    try {
      await this.subscribeInTime(subscription);
    } catch (error) {
      this.lose([subscription]);
      throw error;
    } finally {
      subscription.isTrying = false;
    }
  }

  /** Ends the subscription to a shard channel. */
  remove(channel: string): void {
    const subscription = this.subscriptions.get(channel);
    if (!subscription) return;
    this.subscriptions.delete(channel);
    this.lost.delete(subscription);
    subscription.connection?.unsubscribe(channel);
  }

  close(): void {
    clearInterval(this.checks);
    clearTimeout(this.retry);
    this.subscriptions.clear();
    this.lost.clear();
    for (const connection of this.connections.values()) connection.close();
  }

  private isWanted(subscription: ShardSubscription): boolean {
    return this.subscriptions.get(subscription.channel) === subscription;
  }

  /** Subscribes, with several attempts if another server can hold the channel. */
  private async subscribeInTime(subscription: ShardSubscription): Promise<void> {
    const deadline = performance.now() + (this.owners.canChange ? LONGEST_ATTEMPT_MS : 0);
    for (;;) {
      try {
        await this.subscribe(subscription);
        return;
      } catch (error) {
        if (performance.now() >= deadline || !this.isWanted(subscription)) throw error;
        await this.owners.refresh();
        await sleep(RETRY_PAUSE_MS);
      }
    }
  }

  /** Subscribes on the present owner. Returns whether the server may have lost data since the last confirmation. */
  private async subscribe(subscription: ShardSubscription): Promise<boolean> {
    await this.owners.ready();
    if (!this.isWanted(subscription)) throw unavailable('The subscription has ended.');
    const { channel, confirmedBy, losses } = subscription;
    const connection = this.connectionFor(channel);
    if (subscription.connection !== connection) subscription.connection?.unsubscribe(channel);
    subscription.connection = connection;
    await connection.subscribe(channel);
    if (!this.subscriptions.has(channel)) connection.unsubscribe(channel);
    if (subscription.losses !== losses) throw unavailable('The connection broke.');
    subscription.confirmedBy = connection;
    this.lost.delete(subscription);
    return confirmedBy !== connection;
  }

  private connectionFor(channel: string): ShardConnection {
    const owner = this.owners.ownerOf(channel) ?? '';
    const known = this.connections.get(owner);
    if (known) return known;
    const client = this.owners.connect(owner);
    if (!client) throw unavailable('No server is known for it.');
    const connection: ShardConnection = new ShardConnection(owner, client, {
      onMessage: (name, message) => this.subscriptions.get(name)?.receive(message),
      onBroken: () => this.break(connection),
      onMoved: () => this.lose(this.subscriptionsOf(connection)),
      onEnd: () => {
        if (this.connections.get(owner) === connection) this.connections.delete(owner);
      },
    });
    this.connections.set(owner, connection);
    return connection;
  }

  private subscriptionsOf(connection: ShardConnection): ShardSubscription[] {
    return [...this.subscriptions.values()].filter((each) => each.connection === connection);
  }

  private break(connection: ShardConnection): void {
    const broken = this.subscriptionsOf(connection);
    for (const subscription of broken) subscription.confirmedBy = undefined;
    this.lose(broken);
  }

  private lose(subscriptions: readonly ShardSubscription[]): void {
    for (const subscription of subscriptions) {
      subscription.losses += 1;
      if (this.isWanted(subscription)) this.lost.add(subscription);
    }
    if (!this.retry) this.retryLost();
  }

  /** Subscribes to the lost channels, and again after a pause, until servers have confirmed all of them. */
  private retryLost(): void {
    this.retry = undefined;
    if (this.lost.size === 0) return;
    for (const subscription of this.lost) void this.restore(subscription);
    this.retry = setTimeout(() => void this.owners.refresh().then(() => this.retryLost()), RETRY_PAUSE_MS);
  }

  private async restore(subscription: ShardSubscription): Promise<void> {
    if (subscription.isTrying) return;
    subscription.isTrying = true;
    try {
      const isInDoubt = await this.subscribe(subscription);
      await subscription.catchUp(isInDoubt);
    } catch {
      // The next attempt follows.
    } finally {
      subscription.isTrying = false;
    }
  }

  /** Leaves the servers that do not hold a channel any more. */
  private follow(): void {
    const subscriptions = [...this.subscriptions.values()];
    this.lose(
      subscriptions.filter(
        ({ channel, confirmedBy }) => confirmedBy && confirmedBy.owner !== this.owners.ownerOf(channel),
      ),
    );
    const used = new Set(subscriptions.map(({ connection }) => connection));
    for (const connection of this.connections.values()) {
      if (used.has(connection)) continue;
      this.connections.delete(connection.owner);
      connection.close();
    }
  }

  /** Finds broken connections and channels that have moved, and reads what came without a message. */
  private async check(): Promise<void> {
    for (const connection of this.connections.values()) connection.check();
    await this.owners.refresh();
    this.turn = (this.turn + 1) % CHECKS_TO_READ;
    for (const subscription of this.subscriptions.values())
      if (this.owners.canChange || subscription.turn === this.turn) void subscription.catchUp(false);
  }
}

function unavailable(why: string): ChannelUnavailableError {
  return new ChannelUnavailableError(`Redis is not available for the session channel. ${why}`);
}

async function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}
