import type { ChatStatus, UIMessage } from 'ai';
import { digestOf } from '../wire/digest.ts';
import type { ChatVersion } from '../wire/response-event.ts';

/** A chat of the AI SDK that a transport keeps current, such as `new Chat({ id, transport })` of `@ai-sdk/react`. */
export interface AttachedChat<Message extends UIMessage = UIMessage> {
  readonly id: string;
  readonly status: ChatStatus;
  messages: Message[];
  resumeStream(): Promise<void>;
  /** Sends the decisions and answers of the page. */
  sendMessage(): Promise<void>;
  clearError(): void;
}

/** The messages of a chat as the server has them. */
export interface ChatHistory<Message extends UIMessage = UIMessage> {
  readonly messages: Message[];
  /** The version of the session; 0 for a chat without a message. */
  readonly version: number;
  /** True while a response is in progress, or a message waits for one. */
  readonly isAtWork: boolean;
  /** The id of the last response, if it failed. It need not have a message. */
  readonly failedId?: string;
}

/** A message of the page that the server has not confirmed: it is on its way, or was refused. */
export interface UnsentMessage<Message extends UIMessage = UIMessage> {
  readonly message: Message;
  /** True when it replaces a message of the server. */
  readonly isEdit: boolean;
}

/** The functions of a transport that keep a page current. */
export interface SyncSource<Message extends UIMessage> {
  load(): Promise<ChatHistory<Message>>;
  /** Returns the versions of the chat as they are saved; version 0 when there is no such chat. */
  versions(): AsyncIterable<ChatVersion>;
  /** True while a stream of the chat is open. */
  isStreaming(): boolean;
  /** True when the stream of the last response brings more than its message: a call for the page, or an error. */
  mustResume(): boolean;
  /** Returns the messages that the server has not confirmed, by their ids. */
  unsent(): ReadonlyMap<string, UnsentMessage>;
  /** True when the page has decisions or answers that the server lacks. */
  hasNewAnswers(): boolean;
}

/** The time after which a page whose stream has just ended is looked at again. */
const SETTLE_PAUSE_MS = 50;
/** The time until a page whose load was refused tries again. */
const REFUSED_PAUSE_MS = 5_000;

/**
 * Keeps a page current while it reads no stream: it loads the messages when another page or a worker has changed the
 * chat, and resumes the response in progress.
 */
export class PageSync<Message extends UIMessage> {
  private readonly chat: AttachedChat<Message>;
  private readonly source: SyncSource<Message>;
  /** The chat as the server last described it. */
  private latest: ChatVersion | undefined;
  /** True when the page must load its messages, whatever it shows. */
  private mustLoad = false;
  private isLoading = false;
  private isOver = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(chat: AttachedChat<Message>, source: SyncSource<Message>) {
    this.chat = chat;
    this.source = source;
  }

  /** Loads the messages, and follows the chat until `close`. */
  async run(): Promise<void> {
    await this.load();
    // The stream brings the calls once more, so that `onToolCall` answers those that began while no page was open, and the
    // error of a failure. Only now: the page may answer with an error, or with a value that is refused.
    if (!this.isOver && !this.isBusy && this.source.mustResume()) this.resume();
    for await (const latest of this.source.versions()) {
      if (this.isOver) return;
      this.latest = latest;
      await this.check();
    }
  }

  /** Records the end of a stream, with the chat as it was then. `restart`: the page shows something else than the server. */
  noteEnd(chat: ChatVersion | 'restart' | undefined): void {
    if (chat === 'restart') this.mustLoad = true;
    else if (chat && chat.version >= (this.latest?.version ?? 0)) this.latest = chat;
    this.checkSoon();
  }

  close(): void {
    this.isOver = true;
    clearTimeout(this.timer);
  }

  private checkSoon(pause = SETTLE_PAUSE_MS): void {
    clearTimeout(this.timer);
    if (this.isOver) return;
    this.timer = setTimeout(() => void this.check().catch(() => this.checkSoon(REFUSED_PAUSE_MS)), pause);
  }

  private get isBusy(): boolean {
    const { status } = this.chat;
    return this.isLoading || this.source.isStreaming() || status === 'submitted' || status === 'streaming';
  }

  /** Brings an idle page up to date. */
  private async check(): Promise<void> {
    if (this.isOver || !this.isBehind) return;
    if (!this.isBusy) return this.load();
    if (!this.source.isStreaming()) this.checkSoon();
  }

  private get isBehind(): boolean {
    const { latest, mustLoad } = this;
    if (mustLoad || latest === undefined) return mustLoad;
    if (latest.isAtWork) return true;
    return latest.digest !== undefined && latest.digest !== digestOf(this.sentMessages);
  }

  private get sentMessages(): readonly Message[] {
    const unsent = this.source.unsent();
    return this.chat.messages.filter(({ id }) => unsent.get(id)?.isEdit ?? true);
  }

  private async load(): Promise<void> {
    this.isLoading = true;
    let history: ChatHistory<Message> | undefined;
    try {
      history = await this.source.load();
    } finally {
      this.isLoading = false;
    }
    if (this.isOver || this.isBusy) return;
    // Given while the page read a stream. Those that the server has refused go, so that the user gives them again.
    if (this.chat.status !== 'error' && this.source.hasNewAnswers()) return void this.chat.sendMessage();
    this.chat.messages = withUnsent(history.messages, this.chat.messages, this.source.unsent());
    const { version, isAtWork } = history;
    this.mustLoad = false;
    if (version >= (this.latest?.version ?? 0))
      this.latest = { version, isAtWork, ...(!isAtWork && { digest: digestOf(history.messages) }) };
    if (isAtWork) this.resume();
  }

  private resume(): void {
    if (this.chat.status === 'error') this.chat.clearError();
    void this.chat.resumeStream();
  }
}

/**
 * Returns the messages of the server, and behind them those of the page that the server has not confirmed. An unconfirmed
 * edit at the end of the page hides the messages that it would discard.
 */
function withUnsent<Message extends UIMessage>(
  known: readonly Message[],
  shown: readonly Message[],
  unsent: ReadonlyMap<string, UnsentMessage>,
): Message[] {
  const indexOf = (id: string): number => known.findIndex((message) => message.id === id);
  const last = shown.slice(shown.findLastIndex(({ id }) => !unsent.has(id)) + 1);
  const edit = last.find(({ id }) => unsent.get(id)?.isEdit && indexOf(id) >= 0);
  const kept = edit ? known.slice(0, indexOf(edit.id)) : known;
  const own = shown.filter(({ id }) => unsent.has(id) && kept.every((message) => message.id !== id));
  return [...kept, ...own];
}
