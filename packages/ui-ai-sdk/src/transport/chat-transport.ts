import { checkArgument, mustBe, optionsCheck } from '@holdfast/core/engine';
import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai';
import { executionIdIn } from '../messages/message-ids.ts';
import { isToolPart } from '../messages/ui-part.ts';
import type { UIPart } from '../messages/ui-part.ts';
import { ChatConnection } from './chat-connection.ts';
import type { ChatRequestInit, ConnectionOptions } from './chat-connection.ts';
import { ChatRecord } from './chat-record.ts';
import type { AttachedChat, ChatHistory } from './page-sync.ts';
import { PageSync } from './page-sync.ts';
import type { ChatVersion } from '../wire/response-event.ts';
import { hasNewAnswer } from './new-answers.ts';
import { responseChunks } from './response-chunks.ts';
import { untilVisible, whileVisible } from './tab.ts';

/** Options of `HoldfastChatTransport`. */
export interface HoldfastChatTransportOptions extends ConnectionOptions {
  /** Receives each message of the user as soon as the server has it. A refused message never comes here. */
  readonly onSent?: (message: UIMessage, chatId: string) => void;
}

const checkOptions = optionsCheck<HoldfastChatTransportOptions>('HoldfastChatTransport', {
  api: mustBe.string,
  headers: mustBe.anything,
  credentials: mustBe.oneOf(['omit', 'same-origin', 'include']),
  fetch: mustBe.function,
  onConnection: mustBe.function,
  onSent: mustBe.function,
});

type SendOptions<Message extends UIMessage> = Parameters<ChatTransport<Message>['sendMessages']>[0];
type ReconnectOptions = Parameters<ChatTransport<UIMessage>['reconnectToStream']>[0];

/**
 * The transport between `useChat` and `chatHandler`. A stream continues over lost connections, dead web processes and dead
 * workers. A closed page ends nothing: `stop` does.
 *
 * @example
 * const transport = new HoldfastChatTransport();
 * const chat = new Chat({ id, transport, sendAutomaticallyWhen: transport.hasNewAnswers });
 * useEffect(() => transport.attach(chat), [chat]);
 */
export class HoldfastChatTransport<Message extends UIMessage = UIMessage> implements ChatTransport<Message> {
  /** A resumed stream brings its message from the beginning. */
  readonly resumeStreamIsReplay = true;
  private readonly connection: ChatConnection;
  private readonly onSent: HoldfastChatTransportOptions['onSent'];
  private readonly chats = new Map<string, ChatRecord<Message>>();

  /** @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or an invalid value. */
  constructor(options: HoldfastChatTransportOptions = {}) {
    const { onSent, ...connection } = checkOptions(options);
    this.connection = new ChatConnection(connection);
    this.onSent = onSent;
  }

  /**
   * Sends a message, decisions, answers, an edit or a request for another response, and returns the chunks of the
   * response. It sends again until the server replies; the server takes each message once.
   * @throws ChatResponseError when the server refuses.
   */
  async sendMessages(options: SendOptions<Message>): Promise<ReadableStream<UIMessageChunk>> {
    const { chatId, trigger, messageId, messages, abortSignal, headers, body } = options;
    const chat = this.chatOf(chatId);
    const message = trigger === 'submit-message' ? this.messageToSend(messages, messageId) : undefined;
    const isContinued = message?.role === 'assistant';
    // The page continues the message that it names. It shows any other one again, from its beginning.
    const shown = isContinued && message.id === messageId ? message : undefined;
    const request: ChatRequestInit = {
      method: 'POST',
      path: '?format=events',
      headers,
      signal: abortSignal,
      body: {
        ...body,
        id: chatId,
        trigger,
        messageId,
        message: isContinued ? answersOf(message) : message,
        hasStream: chat.streams.isOpen,
        replaces: chat.last && executionIdIn(chat.last.id),
      },
    };
    const sent = isContinued ? undefined : message;
    if (sent) chat.unsent.set(sent.id, sent);
    const onReply = (): void => {
      if (sent) chat.unsent.delete(sent.id);
      chat.taken.resolve();
      chat.taken = Promise.withResolvers();
      if (sent) this.onSent?.(sent, chatId);
    };
    return this.stream(chatId, request, shown, abortSignal, onReply);
  }

  /** Returns the chunks of the response at work, from its beginning; `null` without one. */
  async reconnectToStream({
    chatId,
    abortSignal,
    headers,
  }: ReconnectOptions): Promise<ReadableStream<UIMessageChunk> | null> {
    const { asking } = this.chatOf(chatId); // it is not at work, so only its id leads to it
    const request: ChatRequestInit = {
      method: 'GET',
      path: streamPath(chatId, asking),
      headers,
      signal: abortSignal,
    };
    return this.stream(chatId, request, undefined, abortSignal);
  }

  /** Stops the response at work, wherever it runs. Returns false without one. */
  async stop(chatId: string): Promise<boolean> {
    const { streams, streamed } = this.chatOf(chatId);
    const body = { messageId: streams.isOpen ? streamed?.id : undefined };
    const response = await this.connection.request({ method: 'POST', path: `${pathOf(chatId)}/stop`, body });
    const { isStopping } = (await response.json()) as { isStopping: boolean };
    return isStopping;
  }

  /** Returns the messages of a chat, the response at work included. */
  async load(chatId: string): Promise<ChatHistory<Message>> {
    const response = await this.connection.request({ method: 'GET', path: pathOf(chatId) });
    const history = (await response.json()) as ChatHistory<Message>;
    const chat = this.chatOf(chatId);
    for (const message of history.messages) if (message.role === 'assistant') chat.receive(message);
    chat.isOutdated = false;
    chat.asking = !history.isAtWork && chat.last?.parts.some(isQuestion) ? chat.last.id : undefined;
    return history;
  }

  /** Deletes a chat. Returns false when it did not exist. */
  async delete(chatId: string): Promise<boolean> {
    const response = await this.connection.request({ method: 'DELETE', path: pathOf(chatId) });
    const { isDeleted } = (await response.json()) as { isDeleted: boolean };
    return isDeleted;
  }

  /** Copies a chat to a new id, as a whole or up to a message. */
  async fork(chatId: string, copy: { readonly chatId: string; readonly messageId?: string }): Promise<void> {
    await this.connection.request({ method: 'POST', path: `${pathOf(chatId)}/fork`, body: copy });
  }

  /**
   * Keeps a chat current: loads its messages, resumes the response at work, and shows changes by other pages. Returns the
   * function that ends it, for `useEffect`.
   */
  attach(chat: AttachedChat<Message>): () => void {
    checkArgument('The chat of attach', chat, mustBe.objectWith('a chat of the AI SDK', ['resumeStream']));
    const { id } = chat;
    const closing = new AbortController();
    const sync = new PageSync<Message>(chat, {
      load: () => this.load(id),
      versions: () => this.versions(id, closing.signal),
      isStreaming: () => this.chatOf(id).streams.isOpen,
      isAsking: () => this.chatOf(id).asking !== undefined,
      unsent: () => [...this.chatOf(id).unsent.values()],
      hasNewAnswers: () => chat.messages.some((message) => this.chatOf(id).isAnswered(message)),
    });
    this.chatOf(id).sync = sync;
    sync.run().catch(() => undefined); // closed, or refused: the next request shows the refusal
    return () => {
      closing.abort();
      sync.close();
      if (this.chatOf(id).sync === sync) this.chatOf(id).sync = undefined;
    };
  }

  /**
   * True when the last response has a decision or an answer that the server does not have. Pass it to `useChat` as
   * `sendAutomaticallyWhen`.
   */
  readonly hasNewAnswers = ({ messages }: { readonly messages: readonly UIMessage[] }): boolean =>
    this.answeredMessage(messages) !== undefined;

  /** Returns the last response, if it has a new answer. Messages that joined its run can stand behind it. */
  private answeredMessage<Any extends UIMessage>(messages: readonly Any[]): Any | undefined {
    const message = messages.findLast(({ role }) => role === 'assistant');
    const chat = message && [...this.chats.values()].find((each) => each.hasReceived(message));
    const isAnswered = message && (chat ? chat.isAnswered(message) : hasNewAnswer(message, undefined));
    return isAnswered ? message : undefined;
  }

  /** Returns the message to send: a response with new answers, or the named one, or the last one. */
  private messageToSend(messages: readonly Message[], messageId: string | undefined): Message | undefined {
    const answered = messageId === undefined ? undefined : this.answeredMessage(messages);
    return answered ?? messages.findLast(({ id }) => id === messageId) ?? messages.at(-1);
  }

  private async stream(
    chatId: string,
    request: ChatRequestInit,
    shown: UIMessage | undefined,
    signal: AbortSignal | undefined,
    onReply: () => void,
  ): Promise<ReadableStream<UIMessageChunk>>;
  private async stream(
    chatId: string,
    request: ChatRequestInit,
    shown: UIMessage | undefined,
    signal: AbortSignal | undefined,
  ): Promise<ReadableStream<UIMessageChunk> | null>;
  private async stream(
    chatId: string,
    request: ChatRequestInit,
    shown: UIMessage | undefined,
    signal: AbortSignal | undefined,
    onReply: () => void = () => undefined,
  ): Promise<ReadableStream<UIMessageChunk> | null> {
    const chat = this.chatOf(chatId);
    if (!chat.streams.isOpen) chat.streamed = shown;
    const close = chat.streams.open();
    const leave = once(() => {
      close();
      chat.sync?.noteEnd(undefined);
    });
    try {
      let first: Response | undefined = await this.connection.request(request);
      onReply();
      if (first.status === 204) return (leave(), null);
      const connect = async (messageId: string | undefined): Promise<AsyncIterable<unknown>> => {
        const response =
          first ?? (await this.connection.request(messageId ? again(chatId, messageId, request) : request));
        first = undefined;
        if (response.status === 204) return gone();
        return this.connection.events(response, signal);
      };
      const chunks = responseChunks({
        shown,
        connect,
        pauseAfter: (attempt) => this.connection.pauseAfter(attempt, signal),
        onMessage: (message) => {
          chat.streamed = message;
          chat.receive(message);
        },
        onEnd: (end) => {
          chat.isOutdated ||= end === 'restart';
          leave();
          chat.sync?.noteEnd(end === 'restart' ? end : end.chat);
        },
      });
      return chunkStream(chunks, leave);
    } catch (error) {
      leave();
      chat.sync?.noteEnd('restart'); // the page has changed its messages, and the server has not
      throw error;
    }
  }

  /** Returns the versions of a chat over many connections. A chat that does not exist yet is waited for. */
  private async *versions(chatId: string, signal: AbortSignal): AsyncGenerator<ChatVersion, void, undefined> {
    const { streams } = this.chatOf(chatId);
    for (let attempt = 0; !signal.aborted; attempt++) {
      // Browsers limit the connections to a server. A hidden tab needs none, and a page that reads a response has one.
      await untilVisible(signal);
      await streams.untilClosed();
      const visible = whileVisible(AbortSignal.any([signal, streams.signal]));
      try {
        for await (const event of this.watch(chatId, visible.signal)) {
          attempt = -1;
          yield event as ChatVersion;
        }
      } catch (error) {
        if (signal.aborted || !visible.signal.aborted) throw error;
        if (streams.isOpen) attempt = -1;
      } finally {
        visible.leave();
      }
      // A chat without a message does not exist yet. Its first message can come from here, or from another page.
      const pause = this.connection.pauseAfter(Math.max(0, attempt), signal);
      await Promise.race([pause, this.chatOf(chatId).taken.promise]);
      signal.throwIfAborted();
    }
  }

  private async *watch(chatId: string, signal: AbortSignal): AsyncGenerator<unknown, void, undefined> {
    const response = await this.connection.request({
      method: 'GET',
      path: `${pathOf(chatId)}/watch`,
      signal,
    });
    yield* this.connection.events(response, signal);
  }

  private chatOf(chatId: string): ChatRecord<Message> {
    const known = this.chats.get(chatId);
    if (known) return known;
    const created = new ChatRecord<Message>();
    this.chats.set(chatId, created);
    return created;
  }
}

/** Returns the request that continues a response after a lost connection. */
function again(chatId: string, messageId: string, { headers, signal }: ChatRequestInit): ChatRequestInit {
  return { method: 'GET', path: streamPath(chatId, messageId), headers, signal };
}

/** Returns the path of the stream of a response: the named one, or the one at work. */
function streamPath(chatId: string, messageId: string | undefined): string {
  const named = messageId === undefined ? '' : `&message=${encodeURIComponent(messageId)}`;
  return `${pathOf(chatId)}/stream?format=events${named}`;
}

/** The events of a response that is gone: its chat was deleted. */
async function* gone(): AsyncGenerator<unknown, void, undefined> {
  yield { type: 'restart' };
}

/** Returns a message with its decided and answered calls only: the server has the rest. */
function answersOf({ id, role, parts }: UIMessage): UIMessage {
  return { id, role, parts: parts.filter(isAnswered) };
}

/** True for a call that waits for an answer, in a response that is not at work. */
function isQuestion(part: UIPart): boolean {
  return isToolPart(part) && part.state === 'input-available' && !part.providerExecuted;
}

function isAnswered(part: UIPart): boolean {
  return isToolPart(part) && ANSWERED.has(part.state);
}

const ANSWERED: ReadonlySet<string> = new Set(['approval-responded', 'output-available', 'output-error']);

function pathOf(chatId: string): string {
  return `/${encodeURIComponent(chatId)}`;
}

function once(act: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) act();
    isDone = true;
  };
}

function chunkStream(
  chunks: AsyncGenerator<UIMessageChunk, void, undefined>,
  onEnd: () => void,
): ReadableStream<UIMessageChunk> {
  return new ReadableStream<UIMessageChunk>(
    {
      async pull(controller) {
        try {
          const { done, value } = await chunks.next();
          if (!done) return controller.enqueue(value);
          onEnd();
          controller.close();
        } catch (error) {
          onEnd();
          controller.error(error);
        }
      },
      async cancel() {
        onEnd();
        await chunks.return();
      },
    },
    { highWaterMark: 0 },
  );
}
