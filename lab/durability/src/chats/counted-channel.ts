import type { SessionChannel } from '@holdfast/core/channel';

/** The subscriptions of a channel. */
export interface ChannelCounts {
  /** All subscriptions so far. */
  readonly subscriptions: number;
  /** The subscriptions that have not ended. */
  readonly open: number;
}

/** Returns a channel that counts its subscriptions. */
export function countedChannel(channel: SessionChannel): SessionChannel & { readonly counts: ChannelCounts } {
  const counts = { subscriptions: 0, open: 0 };
  return {
    counts,
    capabilities: channel.capabilities,
    publish: (...batch) => channel.publish(...batch),
    async subscribe(sessionId, listener, options) {
      counts.subscriptions++;
      counts.open++;
      options.signal.addEventListener('abort', () => counts.open--, { once: true });
      return channel.subscribe(sessionId, listener, options);
    },
    notify: (...notification) => channel.notify(...notification),
    onNotification: (...listening) => channel.onNotification(...listening),
    close: () => channel.close(),
  };
}
