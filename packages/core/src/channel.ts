// Exports for the live view of sessions across processes, beside those of the root: the contract of channels, for their
// authors, and the channel within one process
export type {
  ChannelCapabilities,
  ChannelNews,
  ChannelNotification,
  PublishOptions,
  SessionChannel,
  SubscribeOptions,
} from './channel/session-channel.ts';
export { readChannelEntry, writeChannelEntry } from './channel/channel-entry.ts';
export type { ChannelChange, ChannelEntry } from './channel/channel-entry.ts';
export { channelClosed, ChannelUnavailableError } from './channel/channel-errors.ts';
export { ChannelListeners } from './channel/channel-listeners.ts';
export { readChannelNotification, writeChannelNotification } from './channel/channel-notification.ts';
export { ChannelSubscription, readChannelNews } from './channel/channel-subscription.ts';
export { MemorySessionChannel } from './channel/memory-session-channel.ts';
export type { MemorySessionChannelOptions } from './channel/memory-session-channel.ts';
export type { PartialResponse } from './channel/partial-response.ts';
export { SessionWatcher } from './session/watch/session-watcher.ts';
export type { SessionWatcherOptions, WatchOptions } from './session/watch/session-watcher.ts';
export type { SessionView } from './session/watch/session-mirror.ts';
