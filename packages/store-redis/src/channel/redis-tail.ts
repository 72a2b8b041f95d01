import { readChannelNews, type ChannelNews, type ChannelSubscription } from '@holdfast/core/channel';
import { isLaterEntry, isNextEntry, readEntryId, type EntryId } from './entry-id.ts';

/** An entry as the stream holds it. */
export interface TailEntry {
  readonly id: EntryId;
  readonly text: string;
}

/** Reads the entries of a tail after an entry; all entries without one. */
export type ReadTail = (after: EntryId | undefined) => Promise<readonly TailEntry[]>;

/** A subscription that waits for the present tail. */
interface Joining {
  readonly subscription: ChannelSubscription;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** The time between a failed read and the next. */
const RETRY_PAUSE_MS = 500;
const GAP: ChannelNews = Object.freeze({ type: 'gap' });

/**
 * The tail of one session, as this process reads it. One read serves all its subscriptions. A message of the server has the
 * next entries, or only tells that there is more to read, so it does not matter when one is lost or late.
 */
export class RedisTail {
  private readonly read: ReadTail;
  private readonly members = new Set<ChannelSubscription>();
  private joining: Joining[] = [];
  /** The last entry that the members have received, and its text. */
  private cursor: EntryId | undefined;
  private lastText: string | undefined;
  /** The last entry that the server has announced. */
  private announced: EntryId | undefined;
  /** True after a broken connection, until a read shows whether entries are missing. */
  private isInDoubt = false;
  private isReading = false;
  private mustRead = false;
  private retry: NodeJS.Timeout | undefined;

  constructor(read: ReadTail) {
    this.read = read;
  }

  /** Gives a subscription the present tail, and then what follows. */
  async join(subscription: ChannelSubscription): Promise<void> {
    return new Promise((resolve, reject) => {
      this.joining.push({ subscription, resolve, reject });
      this.readOn();
    });
  }

  leave(subscription: ChannelSubscription): void {
    this.members.delete(subscription);
    if (this.members.size === 0) clearTimeout(this.retry);
  }

  /** Delivers the entries of a message of `publish-entries.lua`. Reads on, unless they are the next ones. */
  announce(message: string): void {
    const [id = '', ...texts] = message.split('\n');
    const announced = readEntryId(id);
    this.announced = announced;
    const first = { ...announced, number: announced.number - texts.length + 1 };
    const mustRead = texts.length === 0 || this.isReading || this.isInDoubt || this.members.size === 0;
    if (mustRead || !isNextEntry(this.cursor, first)) return this.readOn();
    const entries = texts.map((text, index) => ({ id: { ...first, number: first.number + index }, text }));
    this.deliver(entries, false, announced);
  }

  /**
   * Reads on, because announcements may have been lost.
   * @param isInDoubt true when the server may have lost entries
   */
  catchUp(isInDoubt: boolean): void {
    if (this.members.size === 0 && !this.isReading) return;
    if (isInDoubt) {
      this.isInDoubt = true;
      this.announced = undefined;
    }
    this.readOn();
  }

  private readOn(): void {
    this.mustRead = true;
    if (!this.isReading) void this.readAll();
  }

  private async readAll(): Promise<void> {
    clearTimeout(this.retry);
    this.isReading = true;
    while (this.mustRead) {
      this.mustRead = false;
      await this.readOnce();
    }
    this.isReading = false;
  }

  private async readOnce(): Promise<void> {
    const { announced, isInDoubt } = this;
    this.isInDoubt = false;
    const joining = this.joining.splice(0);
    const isWhole = joining.length > 0 || isInDoubt;
    try {
      const entries = await this.read(isWhole ? undefined : this.cursor);
      this.deliver(entries, isInDoubt, announced);
      for (const { subscription, resolve } of joining) {
        if (!subscription.isOver) this.members.add(subscription);
        subscription.receive(newsOf(entries));
        resolve();
      }
    } catch (error) {
      this.isInDoubt ||= isInDoubt;
      for (const { reject } of joining) reject(error);
      if (this.members.size > 0) this.retry = setTimeout(() => this.readOn(), RETRY_PAUSE_MS);
    }
  }

  /** Calls the members with the entries that they do not have, and with a gap where entries are missing. */
  private deliver(entries: readonly TailEntry[], isInDoubt: boolean, announced: EntryId | undefined): void {
    const { cursor } = this;
    const isReplaced = isInDoubt && !entries.some((entry) => this.isLast(entry));
    const added = entries.filter(({ id }) => isAdded(id, cursor));
    const [first] = added;
    const news: ChannelNews[] = [];
    if (isReplaced || (first && !isNextEntry(cursor, first.id))) news.push(GAP);
    news.push(...newsOf(added));
    // A replaced tail can end before the cursor: what follows there is new, under ids that the members know.
    let last = isReplaced ? entries.at(-1) : (added.at(-1) ?? { id: cursor, text: this.lastText });
    if (announced && isLaterEntry(announced, last?.id)) {
      last = { id: announced, text: undefined };
      news.push(GAP);
    }
    this.cursor = last?.id;
    this.lastText = last?.text;
    for (const member of this.members) member.receive(news);
  }

  /** A replica that became the master can have another entry with the same id, so the text counts too. */
  private isLast({ id, text }: TailEntry): boolean {
    const { cursor, lastText } = this;
    return id.generation === cursor?.generation && id.number === cursor.number && text === lastText;
  }
}

/** True for an entry that is not before the cursor. The generations of different tails do not compare. */
function isAdded({ generation, number }: EntryId, cursor: EntryId | undefined): boolean {
  return cursor === undefined || generation !== cursor.generation || number > cursor.number;
}

function newsOf(entries: readonly TailEntry[]): readonly ChannelNews[] {
  return readChannelNews(entries.map(({ text }) => text));
}
