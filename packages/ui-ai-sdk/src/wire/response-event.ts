import type { FinishReason, UIMessage } from 'ai';
import { messageChange, withMessageChange, type MessageChange } from './message-change.ts';

/** A chat at one moment, by which a page finds out whether it is up to date. */
export interface ChatVersion {
  /** The version of the session. */
  readonly version: number;
  /** True while a response is in progress. */
  readonly isAtWork: boolean;
  /** The digest of all messages; absent while a response is in progress. */
  readonly digest?: string;
}

/** The end of a response. */
export interface ResponseEnd {
  readonly type: 'end';
  /** `interrupted`: the run was stopped, or the request had no effect. */
  readonly finishReason: FinishReason;
  /** The failure, in words for the user. */
  readonly error?: string;
  /** The chat at the end; absent when another execution has begun. */
  readonly chat?: ChatVersion;
}

/**
 * An event of a response. The message of the assistant comes whole first, and then as changes. `restart`: the message or
 * the chat is gone, or the message stands in another place, and the page loads its messages again.
 */
export type ResponseEvent =
  | { readonly type: 'message'; readonly message: UIMessage }
  | ({ readonly type: 'change' } & MessageChange)
  | { readonly type: 'restart' }
  | ResponseEnd;

/** Returns the event that brings a reader from one message to another; `undefined` when both are equal. */
export function eventBetween(shown: UIMessage | undefined, wanted: UIMessage): ResponseEvent | undefined {
  if (shown === wanted) return undefined;
  if (shown?.id !== wanted.id) return { type: 'message', message: wanted };
  const change = messageChange(shown, wanted);
  return change && { type: 'change', ...change };
}

/**
 * Returns the message after an event.
 * @throws TypeError for a change of a message that the reader does not have.
 */
export function messageAfter(
  shown: UIMessage | undefined,
  event: Extract<ResponseEvent, { readonly type: 'message' | 'change' }>,
): UIMessage {
  if (event.type === 'message') return event.message;
  if (shown === undefined) throw new TypeError('A change arrived before its message.');
  return withMessageChange(shown, event);
}
