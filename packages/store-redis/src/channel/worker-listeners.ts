import { randomUUID } from 'node:crypto';
import {
  ChannelListeners,
  readChannelNotification,
  writeChannelNotification,
  type ChannelNotification,
} from '@holdfast/core/channel';
import type { ChannelKeys } from './channel-keys.ts';
import type { ChannelServer } from './channel-server.ts';
import type { ShardSubscriber } from './shard-subscriber.ts';

/** Notifications of the sessions that this process holds. */
export class WorkerListeners {
  private readonly server: ChannelServer;
  private readonly subscriber: ShardSubscriber;
  private readonly keysOf: (sessionId: string) => ChannelKeys;
  private readonly listeners = new ChannelListeners<ChannelNotification>();
  /** The last notification of each session with a listener. */
  private readonly received = new Map<string, string>();

  constructor(
    server: ChannelServer,
    subscriber: ShardSubscriber,
    keysOf: (sessionId: string) => ChannelKeys,
  ) {
    this.server = server;
    this.subscriber = subscriber;
    this.keysOf = keysOf;
  }

  async notify(sessionId: string, notification: ChannelNotification): Promise<void> {
    // The id tells a notification that was received twice from two notifications.
    const text = `${randomUUID()} ${writeChannelNotification(notification)}`;
    await this.server.notify(this.keysOf(sessionId), text);
  }

  /** Adds a listener, and returns the function that removes it. */
  add(sessionId: string, listener: (notification: ChannelNotification) => void): () => void {
    const isFirst = !this.listeners.has(sessionId);
    const remove = this.listeners.add(sessionId, listener);
    if (isFirst) void this.subscribe(sessionId);
    return () => {
      if (!this.listeners.has(sessionId)) return;
      remove();
      if (!this.listeners.has(sessionId)) this.unsubscribe(sessionId);
    };
  }

  clear(): void {
    this.listeners.clear();
    this.received.clear();
  }

  private async subscribe(sessionId: string): Promise<void> {
    const { notify } = this.keysOf(sessionId);
    try {
      await this.subscriber.add(notify, {
        receive: (text) => this.receive(sessionId, text),
        catchUp: () => this.catchUp(sessionId),
      });
      await this.catchUp(sessionId);
    } catch {
      // The subscriber tries again.
    }
  }

  private unsubscribe(sessionId: string): void {
    this.received.delete(sessionId);
    this.subscriber.remove(this.keysOf(sessionId).notify);
  }

  /** Reads a notification that was sent after the claim and before the subscription. */
  private async catchUp(sessionId: string): Promise<void> {
    const text = await this.server.lastNotification(this.keysOf(sessionId)).catch(() => undefined);
    if (text !== undefined) this.receive(sessionId, text);
  }

  private receive(sessionId: string, text: string): void {
    if (!this.listeners.has(sessionId) || this.received.get(sessionId) === text) return;
    this.received.set(sessionId, text);
    this.listeners.call(sessionId, readChannelNotification(text.slice(text.indexOf(' ') + 1)));
  }
}
