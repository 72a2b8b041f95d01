import type { LinkClient } from './channel-client.ts';
import { ChannelLink } from './channel-link.ts';

/** The events of a connection for subscriptions. */
export interface ShardConnectionListener {
  readonly onMessage: (channel: string, message: string) => void;
  /** The connection is broken, and all its subscriptions with it. */
  readonly onBroken: () => void;
  /** The server holds some channels no more. It has ended their subscriptions. */
  readonly onMoved: () => void;
  /** The client has ended: it does not connect again. */
  readonly onEnd: () => void;
}

/** A connection for subscriptions to the shard channels of one server. */
export class ShardConnection {
  readonly owner: string;
  private readonly client: LinkClient;
  private readonly link: ChannelLink;
  /** The events `moved` that no refused request explains. */
  private unexplained = 0;

  constructor(owner: string, client: LinkClient, listener: ShardConnectionListener) {
    this.owner = owner;
    this.client = client;
    this.link = new ChannelLink(client);
    client.on('smessage', listener.onMessage);
    client.on('close', listener.onBroken);
    client.on('end', listener.onEnd);
    client.on('moved', () => this.explain(listener.onMoved));
  }

  /** Subscribes, and resolves when the server has confirmed it. @throws ChannelUnavailableError without a confirmation. */
  async subscribe(channel: string): Promise<void> {
    await this.link.send(() => this.client.ssubscribe(channel).catch((error: unknown) => this.refuse(error)));
  }

  unsubscribe(channel: string): void {
    if (this.client.status === 'ready') void this.client.sunsubscribe(channel).catch(() => undefined);
  }

  /** Sends a request: without a reply, the connection is broken. */
  check(): void {
    void this.client.ping().catch(() => undefined);
  }

  close(): void {
    this.client.disconnect();
  }

  /** ioredis emits `moved` for a request that the server refuses, and when the server ends a subscription. */
  private explain(onMoved: () => void): void {
    this.unexplained += 1;
    setImmediate(() => {
      if (this.unexplained > 0) onMoved();
      this.unexplained = 0;
    });
  }

  private refuse(error: unknown): never {
    if (error instanceof Error && error.message.startsWith('MOVED')) this.unexplained -= 1;
    throw error;
  }
}
