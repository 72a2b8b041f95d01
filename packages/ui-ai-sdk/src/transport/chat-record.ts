import type { UIMessage } from 'ai';
import { hasNewAnswer } from './new-answers.ts';
import { OpenStreams } from './open-streams.ts';
import type { PageSync } from './page-sync.ts';

/** The facts about one chat in this page. */
export class ChatRecord<Message extends UIMessage> {
  readonly streams = new OpenStreams();
  /** The messages that the server has not confirmed. */
  readonly unsent = new Map<string, Message>();
  /** The last message of the assistant, as the server has it. */
  last: UIMessage | undefined;
  /** The id of the last response, when it waited for an answer of the page at the last load. */
  asking: string | undefined;
  /** The message that the open stream shows; `undefined` before its first part. */
  streamed: UIMessage | undefined;
  /** True when the page shows messages that the server does not have, until they are loaded. */
  isOutdated = false;
  sync: PageSync<Message> | undefined;
  /** Resolves when the server has taken the next message of this page. */
  taken = Promise.withResolvers<void>();
  /** The ids of the messages of the assistant that this page has received. */
  private readonly received = new Set<string>();

  /** Records a message of the assistant, as the server has it. */
  receive(message: UIMessage): void {
    this.last = message;
    this.received.add(message.id);
  }

  hasReceived({ id }: UIMessage): boolean {
    return this.received.has(id);
  }

  /** True when a message of the page has a decision or an answer for which the last response waits. */
  isAnswered(message: UIMessage): boolean {
    const isLast = this.last?.id === message.id;
    return isLast && !this.isOutdated && hasNewAnswer(message, this.last);
  }
}
