import type { ChannelEntry, ChannelNews, ChannelSubscription } from '@holdfast/core/channel';
import { headerFromItem } from '../header/header-item.ts';
import type { Item } from '../table/item.ts';

const GAP: ChannelNews = Object.freeze({ type: 'gap' });

/** The saves of one session, as the polls of this process see them. */
export class WatchedSession {
  /** The subscriptions, with the news that each has received last. */
  private readonly subscriptions = new Map<ChannelSubscription, readonly ChannelNews[] | undefined>();
  /** The revision of the header that was read last; `undefined` without a header. */
  private revision: string | undefined;
  private lastSave: ChannelEntry | undefined;
  /** The last save, or a gap after an unreadable or missing header. */
  private news: readonly ChannelNews[] | undefined;

  get isWatched(): boolean {
    return this.subscriptions.size > 0;
  }

  add(subscription: ChannelSubscription): void {
    this.subscriptions.set(subscription, undefined);
  }

  remove(subscription: ChannelSubscription): void {
    this.subscriptions.delete(subscription);
  }

  /** Uses a header that was read, and calls the subscriptions that do not have the last save. */
  async receive(header: Item | undefined): Promise<void> {
    const revision = header?.['rev']?.S;
    if (revision !== this.revision) this.update(revision, header && (await saveOf(header)));
    const { news } = this;
    for (const [subscription, seen] of this.subscriptions) {
      if (news === undefined || seen === news) continue;
      this.subscriptions.set(subscription, news);
      subscription.receive(news);
    }
  }

  private update(revision: string | undefined, save: ChannelEntry | undefined): void {
    const isSame = save !== undefined && isSameSave(save, this.lastSave);
    this.revision = revision;
    if (isSame) return;
    this.lastSave = save;
    // Without a readable header, readers load the session, and so find out what has happened to it.
    this.news = save ? [{ type: 'entries', entries: [save] }] : [GAP];
  }
}

/** The save that a header shows, as an entry; `undefined` for an unreadable header. */
async function saveOf(header: Item): Promise<ChannelEntry | undefined> {
  try {
    const { record } = await headerFromItem(header);
    const { version, status, updatedAt: at } = record.info;
    const change = { type: 'saved', version, status, at } as const;
    return Object.freeze({
      incarnation: record.incarnation,
      epoch: 0,
      series: 0,
      n: 1,
      base: version - 1,
      change,
    });
  } catch {
    return undefined;
  }
}

/** Renewals and inbox items change the header too. */
function isSameSave(one: ChannelEntry, other: ChannelEntry | undefined): boolean {
  return one.incarnation === other?.incarnation && one.base === other.base;
}
