import { ChannelListeners } from '@holdfast/core/channel';
import type { ChannelLog, LogRow, RowKind } from './channel-log.ts';

/** Polls the log for all listeners of a process, with one query, while there are any. */
export class ChannelPoll {
  private readonly log: ChannelLog;
  private readonly milliseconds: number;
  private readonly listeners: Readonly<Record<RowKind, ChannelListeners<LogRow>>> = {
    batch: new ChannelListeners(),
    notification: new ChannelListeners(),
  };
  private count = 0;
  /** The last row that was read. */
  private lastId = 0;
  /** Notifications from before their listeners, for the next poll. */
  private readonly recent: LogRow[] = [];
  private timer: NodeJS.Timeout | undefined;

  constructor(log: ChannelLog, milliseconds: number) {
    this.log = log;
    this.milliseconds = milliseconds;
  }

  /**
   * Adds a listener for rows of a session that are added from now on, and returns the function that removes it. A listener
   * for notifications also receives one that was sent some seconds before: perhaps after the claim.
   */
  add(sessionId: string, kind: RowKind, listener: (row: LogRow) => void): () => void {
    if (this.count === 0) this.lastId = this.log.lastId;
    this.log.watch(sessionId, kind, true);
    const listeners = this.listeners[kind];
    const isFirst = !listeners.has(sessionId);
    const remove = listeners.add(sessionId, listener);
    if (kind === 'notification' && isFirst) this.addRecent(sessionId);
    this.timer ??= setInterval(() => this.poll(), this.milliseconds);
    this.count++;
    let isRemoved = false;
    return () => {
      if (isRemoved) return;
      isRemoved = true;
      remove();
      if (!listeners.has(sessionId)) this.ignore(sessionId, kind);
      if (--this.count === 0) this.stop();
    };
  }

  stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private addRecent(sessionId: string): void {
    const row = this.log.lastNotification(sessionId, this.lastId);
    if (row) this.recent.push(row);
  }

  private ignore(sessionId: string, kind: RowKind): void {
    try {
      this.log.watch(sessionId, kind, false);
    } catch {
      // The poll reads rows that nobody receives.
    }
  }

  private poll(): void {
    for (const row of [...this.recent.splice(0), ...this.nextRows()])
      this.listeners[row.kind].call(row.sessionId, row);
  }

  private nextRows(): readonly LogRow[] {
    try {
      const { lastId } = this.log;
      if (lastId === this.lastId) return [];
      const rows = this.log.read(this.lastId, lastId);
      this.lastId = lastId;
      return rows;
    } catch {
      return []; // the next poll reads the same rows
    }
  }
}
