// The chat transport, for pages
export { HoldfastChatTransport } from './transport/chat-transport.ts';
export type { HoldfastChatTransportOptions } from './transport/chat-transport.ts';
export type { ConnectionOptions } from './transport/chat-connection.ts';
export { ChatResponseError } from './transport/chat-connection.ts';
export type { AttachedChat, ChatHistory } from './transport/page-sync.ts';
export { waitsForOthers } from './messages/decidable.ts';
export { withoutSteered } from './messages/without-steered.ts';
