import type { UIMessage } from 'ai';
import { isSameValue } from '../json/is-same-value.ts';
import type { ResponseEnd } from '../wire/response-event.ts';
import { hasNewAnswer, isQuestion } from './answers.ts';
import { OpenStreams } from './open-streams.ts';
import type { ChatHistory, PageSync, UnsentMessage } from './page-sync.ts';
import { Sending, type RunName } from './sending.ts';

/** Returns the path of a chat behind that of the handler. */
export function chatPath(chatId: string): string {
  return `/${encodeURIComponent(chatId)}`;
}

/** The facts about one chat in this page. */
export class ChatRecord<Message extends UIMessage> {
  readonly path: string;
  readonly streams = new OpenStreams();
  /** The messages that the server has not confirmed, by their ids. */
  readonly unsent = new Map<string, UnsentMessage<Message>>();
  /** The requests that the server has not confirmed. */
  readonly sendings = new Set<Sending>();
  /** Resolves when no stop is under way. */
  stopping: Promise<unknown> = Promise.resolve();
  sync: PageSync<Message> | undefined;
  /** The last message of the assistant, as the server has it. */
  last: UIMessage | undefined;
  /** The id of the last response, when its stream brings more than its message: a call for the page, or an error. */
  resumeId: string | undefined;
  private streamed: UIMessage | undefined;
  /** True when the page shows messages that the server does not have, until they are loaded. */
  private isOutdated = false;
  private confirmation = Promise.withResolvers<void>();
  /** The ids of the messages of the assistant that this page has received. */
  private readonly received = new Set<string>();

  constructor(id: string) {
    this.path = chatPath(id);
  }

  /** The id of the message that the open stream shows; `undefined` without a stream, and before its first part. */
  get streamedId(): string | undefined {
    return this.streams.isOpen ? this.streamed?.id : undefined;
  }

  /** Records that a stream opens, with the message that it continues. Returns the function that records its end. */
  open(continued: UIMessage | undefined): () => void {
    if (!this.streams.isOpen) this.streamed = continued;
    const close = this.streams.open();
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      close();
      this.sync?.noteEnd(undefined);
    };
  }

  /** Records the message of the open stream, as the server has it. */
  receive(message: UIMessage): void {
    this.streamed = message;
    this.add(message);
  }

  /** Records the end that the server sent. `restart`: the page shows a message that the server does not have. */
  end(end: ResponseEnd | 'restart'): void {
    if (end === 'restart') this.isOutdated = true;
    this.sync?.noteEnd(end === 'restart' ? end : end.chat);
  }

  /** Records the messages that the page has loaded. */
  load({ messages, isAtWork, failedId }: ChatHistory<Message>): void {
    for (const message of messages) {
      if (message.role === 'assistant') this.add(message);
      const unsent = this.unsent.get(message.id);
      if (unsent && (!unsent.isEdit || isSameValue(message.parts, unsent.message.parts)))
        this.unsent.delete(message.id); // it arrived, and only the reply was lost
    }
    this.last = messages.findLast(({ role }) => role === 'assistant');
    this.isOutdated = false;
    const { last } = this;
    const questionId = !isAtWork && last?.parts.some(isQuestion) ? last.id : undefined;
    this.resumeId = failedId ?? questionId;
  }

  /** Records a request that begins. The next ones wait until `stopping` resolves. */
  send(run: RunName): Sending {
    const sending = new Sending(run);
    this.sendings.add(sending);
    void sending.outcome.then(() => this.sendings.delete(sending));
    return sending;
  }

  /** Records that the server has a request of this page, and the message in it. */
  confirm(message: UIMessage | undefined): void {
    if (message) this.unsent.delete(message.id);
    this.confirmation.resolve();
    this.confirmation = Promise.withResolvers();
  }

  /** Resolves when the server has the next request of this page. */
  untilConfirmed(): Promise<void> {
    return this.confirmation.promise;
  }

  /** Returns the message of the server that a page continues, if the page has it as the server does. */
  knownFor({ id }: UIMessage): UIMessage | undefined {
    return this.last?.id === id && !this.isOutdated ? this.last : undefined;
  }

  hasReceived({ id }: UIMessage): boolean {
    return this.received.has(id);
  }

  /** True when a message of the page has a decision or an answer for which the last response waits. */
  isAnswered(message: UIMessage): boolean {
    const isLast = this.last?.id === message.id;
    return isLast && !this.isOutdated && hasNewAnswer(message, this.last);
  }

  private add(message: UIMessage): void {
    this.last = message;
    this.received.add(message.id);
  }
}
