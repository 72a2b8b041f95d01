// The HTTP handler of chats, for servers
export { chatHandler } from './handler/chat-handler.ts';
export type {
  CallToDecide,
  ChatHandlerOptions,
  ChatLimits,
  ChatName,
  ChatUser,
} from './handler/chat-options.ts';
export type { MessageOptions } from './handler/chat-view.ts';
export { ChatRequestError } from './handler/chat-error.ts';
export type { ChatErrorCode } from './handler/chat-error.ts';
