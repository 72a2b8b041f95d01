import {
  ChannelListeners,
  readChannelNotification,
  type ChannelNotification,
  type ChannelSubscription,
} from '@holdfast/core/channel';
import {
  headerKey,
  notificationKey,
  notificationOf,
  type ChannelTable,
  type ReadItems,
} from './channel-table.ts';
import { WatchedSession } from './watched-session.ts';

/** Polls the headers and the notifications of all sessions that this process watches, while there are any. */
export class ChannelPoll {
  private readonly table: ChannelTable;
  private readonly milliseconds: number;
  private readonly watched = new Map<string, WatchedSession>();
  private readonly workers = new ChannelListeners<ChannelNotification>();
  /** The last notification of each session with a listener. */
  private readonly notified = new Map<string, string>();
  private timer: NodeJS.Timeout | undefined;
  private isPolling = false;

  constructor(table: ChannelTable, milliseconds: number) {
    this.table = table;
    this.milliseconds = milliseconds;
  }

  /** Gives a subscription the last save of a session, and then each save. */
  async subscribe(sessionId: string, subscription: ChannelSubscription): Promise<void> {
    const { pk, sk } = headerKey(sessionId);
    const { items, unread } = await this.table.read([{ pk, sk }]);
    if (subscription.isOver) return;
    const session = this.watched.get(sessionId) ?? new WatchedSession();
    this.watched.set(sessionId, session);
    session.add(subscription);
    this.schedule();
    if (!unread.has(pk)) await session.receive(items.get(pk));
  }

  unsubscribe(sessionId: string, subscription: ChannelSubscription): void {
    const session = this.watched.get(sessionId);
    session?.remove(subscription);
    if (!session?.isWatched) this.watched.delete(sessionId);
    this.stopUnlessNeeded();
  }

  /** Adds a listener for notifications, and returns the function that removes it. */
  add(sessionId: string, listener: (notification: ChannelNotification) => void): () => void {
    const remove = this.workers.add(sessionId, listener);
    this.schedule();
    return () => {
      remove();
      if (!this.workers.has(sessionId)) this.forget(sessionId);
      this.stopUnlessNeeded();
    };
  }

  close(): void {
    this.workers.clear();
    this.watched.clear();
    this.stopUnlessNeeded();
  }

  /** Deletes the notification that the removed listeners have received, so that it does not stay in the table. */
  private forget(sessionId: string): void {
    const id = this.notified.get(sessionId);
    this.notified.delete(sessionId);
    if (id !== undefined) this.table.deleteNotification(sessionId, id).catch(() => undefined);
  }

  private get isNeeded(): boolean {
    return this.watched.size > 0 || this.workers.sessionIds.length > 0;
  }

  private stopUnlessNeeded(): void {
    if (this.isNeeded) return;
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private schedule(): void {
    if (this.timer !== undefined || this.isPolling || !this.isNeeded) return;
    this.timer = setTimeout(() => void this.poll(), this.milliseconds);
  }

  private async poll(): Promise<void> {
    this.timer = undefined;
    this.isPolling = true;
    const [watched, workers] = [[...this.watched.keys()], this.workers.sessionIds];
    try {
      const read = await this.table.read([...watched.map(headerKey), ...workers.map(notificationKey)]);
      for (const sessionId of workers) this.notify(sessionId, read);
      for (const sessionId of watched) await this.update(sessionId, read);
    } catch {
      // The next poll reads the same items.
    }
    this.isPolling = false;
    this.schedule();
  }

  private notify(sessionId: string, { items }: ReadItems): void {
    const notification = notificationOf(items.get(notificationKey(sessionId).pk));
    if (notification === undefined || this.notified.get(sessionId) === notification.id) return;
    if (!this.workers.has(sessionId)) return;
    this.notified.set(sessionId, notification.id);
    this.workers.call(sessionId, readChannelNotification(notification.text));
  }

  private async update(sessionId: string, { items, unread }: ReadItems): Promise<void> {
    const { pk } = headerKey(sessionId);
    if (!unread.has(pk)) await this.watched.get(sessionId)?.receive(items.get(pk));
  }
}
