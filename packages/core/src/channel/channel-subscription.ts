import { readChannelEntry, type ChannelEntry } from './channel-entry.ts';
import { safely } from './channel-listeners.ts';
import type { ChannelNews } from './session-channel.ts';

/** One subscription to a tail, for channels. It ends when its signal aborts, and never calls its listener after that. */
export class ChannelSubscription {
  private readonly listener: (news: ChannelNews) => void;
  private readonly signal: AbortSignal;
  private readonly onEnd: (subscription: ChannelSubscription) => void;
  private hasEnded = false;

  /** @param onEnd called once, when the subscription ends */
  constructor(
    listener: (news: ChannelNews) => void,
    signal: AbortSignal,
    onEnd: (subscription: ChannelSubscription) => void,
  ) {
    this.listener = safely(listener);
    this.signal = signal;
    this.onEnd = onEnd;
    signal.addEventListener('abort', this.end);
  }

  /** True after the end of the subscription. */
  get isOver(): boolean {
    return this.hasEnded || this.signal.aborted;
  }

  /**
   * Begins the subscription with a call of the transport. When the call fails, the subscription ends.
   * @throws the error of the call, unless the subscription had ended before.
   */
  async begin(subscribe: () => Promise<void>): Promise<void> {
    try {
      await subscribe();
    } catch (error) {
      if (this.isOver) return;
      this.end();
      throw error;
    }
  }

  /** Calls the listener with each of the news, until the subscription ends. */
  receive(news: readonly ChannelNews[]): void {
    for (const each of news) if (!this.isOver) this.listener(each);
  }

  /** Ends the subscription. A second call does nothing. */
  readonly end = (): void => {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.signal.removeEventListener('abort', this.end);
    this.onEnd(this);
  };
}

/** Returns the news of entries: a gap for each text that is not an entry. Entries without a gap between are together. */
export function readChannelNews(texts: readonly string[]): readonly ChannelNews[] {
  const news: ChannelNews[] = [];
  let entries: ChannelEntry[] = [];
  for (const text of texts) {
    const entry = readChannelEntry(text);
    if (entry && entries.push(entry) === 1) news.push({ type: 'entries', entries });
    if (entry === undefined) {
      entries = [];
      news.push({ type: 'gap' });
    }
  }
  return news;
}
