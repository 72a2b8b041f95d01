import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai';
import { contentDigestOf } from '../wire/digest.ts';
import { executionIdIn } from '../messages/execution-id.ts';
import { answersOf, hasNewAnswer } from './answers.ts';
import { ChatConnection, ChatResponseError, type ConnectionOptions } from './chat-connection.ts';
import { ChatRecord, chatPath } from './chat-record.ts';
import { openStream, streamPath, type StreamRequest } from './chat-stream.ts';
import { chatVersions } from './chat-versions.ts';
import { checkPageOptions, invalid } from './page-arguments.ts';
import { PageSync, type AttachedChat, type ChatHistory } from './page-sync.ts';
import { unlessAborted, type RunName, type Sending } from './sending.ts';

/** Options of `HoldfastChatTransport`. */
export interface HoldfastChatTransportOptions extends ConnectionOptions {
  /** Receives each message of the user as soon as the server has it. A refused message never comes here. */
  readonly onSent?: (message: UIMessage, chatId: string) => void;
  /** Receives the error of an attached chat that the server does not show, such as one of a user who is signed out. */
  readonly onRefused?: (error: ChatResponseError, chatId: string) => void;
}

const OPTIONS = {
  api: 'a string',
  headers: 'headers, or a function that returns them',
  credentials: '"omit", "same-origin" or "include"',
  fetch: 'a function',
  onConnection: 'a function',
  onSent: 'a function',
  onRefused: 'a function',
} as const;

/** After a refusal, the page waits as long as after so many connections that failed. */
const REFUSED_ATTEMPTS = 3;

/** The time after which a stop waits no longer for the reply to a message. */
const LONGEST_ATTEMPT_MS = 10_000;

type SendOptions<Message extends UIMessage> = Parameters<ChatTransport<Message>['sendMessages']>[0];
type ReconnectOptions = Parameters<ChatTransport<UIMessage>['reconnectToStream']>[0];

/** The content of a request: a message, or the wish for another response. */
interface Content<Message> {
  readonly trigger: SendOptions<UIMessage>['trigger'];
  readonly messageId: string | undefined;
  readonly message: Message | undefined;
}

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
  private readonly onRefused: HoldfastChatTransportOptions['onRefused'];
  private readonly chats = new Map<string, ChatRecord<Message>>();

  /** @throws TypeError `ARGUMENT_INVALID` for an unknown option or an invalid value. */
  constructor(options: HoldfastChatTransportOptions = {}) {
    const checked = checkPageOptions('HoldfastChatTransport', options, OPTIONS);
    const { onSent, onRefused, ...connection } = checked;
    this.connection = new ChatConnection(connection);
    this.onSent = onSent;
    this.onRefused = onRefused;
  }

  /**
   * Sends a message, decisions, answers, an edit or a request for another response, and returns the chunks of the
   * response. It sends again until the server replies; the server takes each message once.
   * @throws ChatResponseError when the server refuses.
   */
  async sendMessages(options: SendOptions<Message>): Promise<ReadableStream<UIMessageChunk>> {
    const chat = this.chatOf(options.chatId);
    const content = this.contentOf(options);
    const { stopping } = chat;
    const sending = chat.send(runOf(content, options.messages));
    try {
      return await this.post(options, content, sending, stopping);
    } catch (error) {
      sending.settle(error instanceof ChatResponseError ? 'refused' : 'withdrawn');
      chat.sync?.noteEnd('restart'); // the page has changed its messages, and the server has not
      throw error;
    }
  }

  /** Returns what a request sends. After a refusal, `regenerate()` sends the refused message again. */
  private contentOf({ chatId, trigger, messageId, messages }: SendOptions<Message>): Content<Message> {
    const last = messages.at(-1);
    const refused =
      last && trigger === 'regenerate-message' ? this.chatOf(chatId).unsent.get(last.id) : undefined;
    if (last && refused)
      return { trigger: 'submit-message', messageId: refused.isEdit ? last.id : undefined, message: last };
    const message = trigger === 'submit-message' ? this.messageToSend(messages, messageId) : undefined;
    return { trigger, messageId, message };
  }

  private async post(
    { chatId, abortSignal, headers, body }: SendOptions<Message>,
    { trigger, messageId, message }: Content<Message>,
    sending: Sending,
    stopping: Promise<unknown>,
  ): Promise<ReadableStream<UIMessageChunk>> {
    const chat = this.chatOf(chatId);
    const { withdrawn, aborted } = sending;
    const signal = abortSignal ? AbortSignal.any([abortSignal, aborted]) : aborted;
    const isResponse = message?.role === 'assistant';
    const sent = isResponse ? undefined : message;
    // The page continues the message that it names. It shows any other one again, from its beginning.
    const continued = isResponse && message.id === messageId ? message : undefined;
    const known = continued && chat.knownFor(continued);
    if (sent) chat.unsent.set(sent.id, { message: sent, isEdit: sent.id === messageId });
    const ending = AbortSignal.any([signal, withdrawn]);
    await unlessAborted(stopping, ending);
    // A repeated request must not regenerate twice: the server needs to know which response the page had.
    if (trigger === 'regenerate-message' && chat.last === undefined)
      await unlessAborted(this.load(chatId), ending);
    const { chunks } = await openStream(this.connection, chat, {
      method: 'POST',
      path: '?format=events',
      headers,
      signal,
      withdrawn,
      body: {
        ...body,
        id: chatId,
        trigger,
        messageId,
        message: isResponse ? answersOf(message) : message,
        hasStream: chat.streams.isOpen,
        known: known && contentDigestOf(known),
        replaces: chat.last && executionIdIn(chat.last.id),
      },
      continued,
      known,
      onReply: () => {
        sending.settle('taken');
        chat.confirm(sent);
        if (sent) this.onSent?.(sent, chatId);
      },
    });
    return chunks;
  }

  /** Returns the chunks of the response in progress, from its beginning; `null` without one. */
  async reconnectToStream({
    chatId,
    abortSignal: signal,
    headers,
  }: ReconnectOptions): Promise<ReadableStream<UIMessageChunk> | null> {
    const chat = this.chatOf(chatId);
    const path = streamPath(chat, chat.resumeId); // that response is not in progress: only its id leads to it
    const request: StreamRequest = { method: 'GET', path, headers, signal };
    const { hasResponse, chunks } = await openStream(this.connection, chat, request);
    if (hasResponse) return chunks;
    await chunks.cancel();
    return null;
  }

  /**
   * Stops the response in progress, wherever it runs. Returns false without one. A message that is on its way is stopped as soon
   * as the server has it. When the server cannot be reached, or at the second call, the page sends the message no longer,
   * and stops its response later if the server has the message all the same.
   * @throws ChatResponseError when the server refuses.
   */
  async stop(chatId: string): Promise<boolean> {
    const chat = this.chatOf(chatId);
    const sendings = [...chat.sendings];
    for (const sending of sendings) if (sending.stop) sending.abort();
    const stops = sendings.map((sending) => (sending.stop ??= this.stopSending(chat, sending)));
    if (stops.length === 0) stops.push(this.stopRun(chat, { messageId: chat.streamedId }));
    chat.stopping = Promise.allSettled([chat.stopping, ...stops]);
    return (await Promise.all(stops)).includes(true);
  }

  /** Returns the messages of a chat, the response in progress included. */
  async load(chatId: string): Promise<ChatHistory<Message>> {
    const chat = this.chatOf(chatId);
    const response = await this.connection.request({ method: 'GET', path: chat.path });
    const history = (await response.json()) as ChatHistory<Message>;
    chat.load(history);
    return history;
  }

  /** Deletes a chat. Returns false when it did not exist. */
  async delete(chatId: string): Promise<boolean> {
    const response = await this.connection.request({ method: 'DELETE', path: chatPath(chatId) });
    const { isDeleted } = (await response.json()) as { isDeleted: boolean };
    return isDeleted;
  }

  /** Copies a chat to a new id, as a whole or up to a message. */
  async fork(chatId: string, copy: { readonly chatId: string; readonly messageId?: string }): Promise<void> {
    await this.connection.request({ method: 'POST', path: `${chatPath(chatId)}/fork`, body: copy });
  }

  /**
   * Keeps a chat current: loads its messages, resumes the response in progress, and shows changes by other pages. Returns the
   * function that ends it, for `useEffect`.
   */
  attach(chat: AttachedChat<Message>): () => void {
    if (typeof chat?.resumeStream !== 'function')
      throw invalid('Pass a chat of the AI SDK to attach, as in attach(new Chat({ id, transport })).');
    const record = this.chatOf(chat.id);
    const closing = new AbortController();
    const sync = new PageSync<Message>(chat, {
      load: () => this.load(chat.id),
      versions: () => chatVersions(this.connection, record, closing.signal),
      isStreaming: () => record.streams.isOpen,
      mustResume: () => record.resumeId !== undefined,
      unsent: () => record.unsent,
      hasNewAnswers: () => chat.messages.some((message) => record.isAnswered(message)),
    });
    record.sync = sync;
    void this.keepCurrent(sync, chat.id, closing.signal);
    return () => {
      closing.abort();
      sync.close();
      if (record.sync === sync) record.sync = undefined;
    };
  }

  /**
   * True when the last response has a decision or an answer that the server does not have. Pass it to `useChat` as
   * `sendAutomaticallyWhen`.
   */
  readonly hasNewAnswers = ({ messages }: { readonly messages: readonly UIMessage[] }): boolean =>
    this.answeredMessage(messages) !== undefined;

  /** Stops the run of a request that the server may not have yet. */
  private async stopSending(chat: ChatRecord<Message>, sending: Sending): Promise<boolean> {
    sending.withdraw();
    const timer = setTimeout(() => sending.abort(), LONGEST_ATTEMPT_MS);
    const outcome = await sending.outcome;
    clearTimeout(timer);
    if (outcome !== 'refused') return this.stopRun(chat, sending.run);
    const { streamedId: messageId } = chat; // of another request
    return messageId !== undefined && this.stopRun(chat, { messageId });
  }

  private async stopRun({ path }: ChatRecord<Message>, body: RunName): Promise<boolean> {
    const response = await this.connection.request({ method: 'POST', path: `${path}/stop`, body });
    const { isStopping } = (await response.json()) as { isStopping: boolean };
    return isStopping;
  }

  /** Follows a chat until the signal aborts. After a refusal, such as that of an expired sign-in, it tries again. */
  private async keepCurrent(sync: PageSync<Message>, chatId: string, signal: AbortSignal): Promise<void> {
    for (let attempt = 0; !signal.aborted; attempt++) {
      try {
        return await sync.run();
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof ChatResponseError) this.onRefused?.(error, chatId);
        await this.connection.pauseAfter(attempt + REFUSED_ATTEMPTS, signal).catch(() => undefined);
      }
    }
  }

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

  private chatOf(chatId: string): ChatRecord<Message> {
    const known = this.chats.get(chatId);
    if (known) return known;
    const created = new ChatRecord<Message>(chatId);
    this.chats.set(chatId, created);
    return created;
  }
}

/** Returns the run that a request begins or continues. A regeneration responds to the last message of the user. */
function runOf({ message }: Content<UIMessage>, messages: readonly UIMessage[]): RunName {
  if (message?.role === 'assistant') return { messageId: message.id };
  const sentId = (message ?? messages.findLast(({ role }) => role === 'user'))?.id;
  return sentId === undefined ? { messageId: undefined } : { sentId };
}
