// The HTTP handler of chats, for servers
export { chatHandler } from './handler/chat-handler.ts';
export type { CallToDecide, ChatHandlerOptions, ChatName, ChatUser } from './handler/chat-options.ts';
export type { ChatLimits } from './handler/request/chat-limits.ts';
export type { MessageOptions } from './handler/chat-view.ts';
export { ChatRequestError } from './handler/request/chat-error.ts';
export type { ChatErrorCode } from './handler/request/chat-error.ts';
