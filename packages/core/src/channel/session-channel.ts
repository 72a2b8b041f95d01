import type { ChannelEntry } from './channel-entry.ts';

/** The properties in which channels differ. */
export interface ChannelCapabilities {
  /**
   * The changes that the channel transports. `deltas`: all of them. `saves`: only entries with a change of the type
   * `saved`; workers then publish no others, and readers see one saved step after another.
   */
  readonly tail: 'deltas' | 'saves';
  /**
   * How entries and notifications arrive: `pushed`, within 200 milliseconds; `polled`, within a second.
   */
  readonly delivery: 'pushed' | 'polled';
}

/** Options of `SessionChannel.publish`. */
export interface PublishOptions {
  /**
   * True when the batch makes all entries before it superfluous: they are saved, or the batch repeats them. The channel
   * removes them from the tail. With an empty batch, it removes the tail.
   */
  readonly trim?: boolean | undefined;
}

/**
 * News for a subscriber. `entries`: the next entries, in the order of their publication. `gap`: entries may be
 * missing between those before and those after it; the channel cannot tell.
 */
export type ChannelNews =
  | { readonly type: 'entries'; readonly entries: readonly ChannelEntry[] }
  | { readonly type: 'gap' };

/** Options of `SessionChannel.subscribe`. */
export interface SubscribeOptions {
  /** Ends the subscription when it aborts. */
  readonly signal: AbortSignal;
}

/**
 * A notification for the worker of a session. `look`: renew the claim and read the inbox. `stop`: the same, because an
 * inbox item requests a stop; of this execution, if it is named.
 */
export interface ChannelNotification {
  readonly type: 'look' | 'stop';
  readonly executionId?: string | undefined;
  /** The id of the inbox item, which a worker that has just claimed the session may have read with the claim. */
  readonly itemId?: string | undefined;
}

/**
 * Connects the worker of a session with its readers and with callers in other processes. It transports the live tail of
 * the session, which is what the worker did after the last save, and notifications to the worker.
 *
 * The store holds the truth; a channel may drop everything. A reader that misses entries shows the session as it was
 * last saved, and a worker that misses a notification reads its inbox with the next heartbeat. No channel may change an
 * entry, invent one, or deliver it to the subscribers of another session.
 *
 * Session ids are well-formed Unicode of 1 to 1,000 UTF-16 units, and may contain NUL and any other control character.
 * A channel compares ids by their code units. Entries are JSON: `writeChannelEntry` returns their text, and
 * `readChannelEntry` reads it.
 *
 * After `close`, `publish`, `subscribe` and `notify` reject with a `ChannelUnavailableError`.
 */
export interface SessionChannel {
  readonly capabilities: ChannelCapabilities;
  /**
   * Appends a batch to the tail of a session, and delivers it to the subscribers, whole or not at all. It fails fast: it
   * must not queue batches while the transport is unavailable, nor retry for longer than about a second. A worker
   * publishes one batch of a session at a time.
   *
   * The tail is limited: a channel removes its oldest entries beyond about 2,000, and a tail that has not changed for
   * about ten minutes. A channel that polls may remove a trimmed entry some seconds later, so that its subscribers can
   * read it before.
   * @throws ChannelUnavailableError or any other error: the batch may be lost, and the publisher repeats what matters.
   */
  publish(sessionId: string, batch: readonly ChannelEntry[], options?: PublishOptions): Promise<void>;
  /**
   * Subscribes to the tail of a session. The listener receives the entries of the tail as it is now, and then each batch
   * as it is published, each entry once. The promise resolves after the listener has received the present tail; from
   * then on the listener misses no entry without receiving a `gap`. It resolves too when the signal has aborted.
   *
   * The channel calls the listener synchronously, one call at a time, and never after the signal has aborted. It
   * ignores what the listener throws. A channel that was disconnected connects again by itself, and reports a `gap`
   * unless it knows that it missed no entry.
   * @throws ChannelUnavailableError when the transport does not reply. The listener is then not subscribed.
   */
  subscribe(
    sessionId: string,
    listener: (news: ChannelNews) => void,
    options: SubscribeOptions,
  ): Promise<void>;
  /**
   * Notifies the worker that holds the session, if there is one. It fails fast, as `publish` does, and resolves without
   * waiting for the worker.
   * @throws ChannelUnavailableError when the transport does not reply.
   */
  notify(sessionId: string, notification: ChannelNotification): Promise<void>;
  /**
   * Registers a listener for the notifications of a session that this process holds, and returns a function that removes
   * it. A worker calls this after each claim, so it must be cheap: all sessions of a process share one connection, one
   * query or one poll. Both functions return at once and never throw. A notification that arrives before the transport
   * is ready may be dropped. The channel ignores what the listener throws.
   */
  onNotification(sessionId: string, listener: (notification: ChannelNotification) => void): () => void;
  /**
   * Ends all subscriptions and removes all listeners. It closes the connections that the channel opened itself; clients
   * that the caller passed in stay open. A second `close` does nothing.
   */
  close(): Promise<void>;
}
