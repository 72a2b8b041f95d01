import { isCluster } from '../server/redis-client.ts';
import type { LinkClient } from './channel-client.ts';
import { ChannelLink } from './channel-link.ts';

/** Milliseconds between two checks of the connection: a subscriber sends nothing, so it notices no broken connection. */
const PING_PAUSE = 15_000;

/** The subscriptions of a process to shard channels, over one connection; in a Cluster, over one for each master. */
export class ShardSubscriber {
  private readonly client: LinkClient;
  private readonly link: ChannelLink;
  private readonly listeners = new Map<string, (message: string) => void>();
  private readonly onRestored: () => void;
  private readonly pings: NodeJS.Timeout | undefined;

  /** @param onRestored called when all subscriptions exist again after a connection was broken */
  constructor(client: LinkClient, onRestored: () => void) {
    this.client = client;
    this.link = new ChannelLink(client);
    this.onRestored = onRestored;
    client.on('smessage', (channel, message) => this.listeners.get(channel)?.(message));
    client.on('ready', () => void this.restore());
    client.on('subscribersReady', () => void this.restore());
    if (isCluster(client)) return;
    this.pings = setInterval(() => void client.ping().catch(() => undefined), PING_PAUSE);
    this.pings.unref();
  }

  /**
   * Subscribes to a shard channel, with one listener. Resolves when the server has confirmed it.
   * @throws ChannelUnavailableError without a confirmation. The channel is then subscribed after the next connection,
   * unless it is removed.
   */
  async add(channel: string, listener: (message: string) => void): Promise<void> {
    this.listeners.set(channel, listener);
    await this.link.send(() => this.client.ssubscribe(channel));
  }

  /** Ends the subscription to a shard channel. */
  remove(channel: string): void {
    this.listeners.delete(channel);
    if (this.client.status === 'ready') void this.client.sunsubscribe(channel).catch(() => undefined);
  }

  close(): void {
    clearInterval(this.pings);
    this.listeners.clear();
    this.client.disconnect();
  }

  private async restore(): Promise<void> {
    const channels = [...this.listeners.keys()];
    await Promise.allSettled(channels.map((channel) => this.client.ssubscribe(channel)));
    this.onRestored();
  }
}
