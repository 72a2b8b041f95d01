import type { UIMessage, UIMessageChunk } from 'ai';
import { messageDifference } from '../chunks/message-difference.ts';
import { messageAfter, type ResponseEnd, type ResponseEvent } from '../wire/response-event.ts';

/** A response that is read over as many connections as it takes. */
export interface ResponseSource {
  /** The message that the page shows and the response continues. */
  readonly shown: UIMessage | undefined;
  /** That message as the server has it, for a first event that is a change of it. */
  readonly known: UIMessage | undefined;
  /** Opens a connection: the first one, or one that continues the response with this message. */
  readonly connect: (messageId: string | undefined) => Promise<AsyncIterable<unknown>>;
  /** Waits before another connection. `attempt` counts from 0 after each event. */
  readonly pauseAfter: (attempt: number) => Promise<void>;
  /** Receives the message after each event. */
  readonly onMessage: (message: UIMessage) => void;
  /** Receives the end. `restart`: no chunks lead to the message that the page should show. */
  readonly onEnd: (end: ResponseEnd | 'restart') => void;
}

/** Returns the chunks of a response, through lost connections, up to its end. */
export async function* responseChunks(
  source: ResponseSource,
): AsyncGenerator<UIMessageChunk, void, undefined> {
  const page = new ShownPage(source);
  for (let attempt = 0; ; attempt++) {
    for await (const event of await source.connect(page.messageId)) {
      attempt = -1;
      yield* page.chunksOf(event as ResponseEvent);
      if (page.isOver) return;
    }
    await source.pauseAfter(Math.max(0, attempt));
  }
}

/** The message that a page shows in one stream. */
class ShownPage {
  isOver = false;
  private readonly source: ResponseSource;
  private shown: UIMessage | undefined;
  private wanted: UIMessage | undefined;
  private isNewStream: boolean;

  constructor(source: ResponseSource) {
    this.source = source;
    this.shown = source.shown;
    this.isNewStream = source.shown !== undefined;
  }

  /** The id of the message of the response, once it is known. */
  get messageId(): string | undefined {
    return this.wanted?.id;
  }

  chunksOf(event: ResponseEvent): readonly UIMessageChunk[] {
    if (event.type === 'end') return this.endWith(event);
    if (event.type === 'restart') return this.restart();
    if (event.type !== 'message' && event.type !== 'change') return []; // of a newer release
    this.wanted = messageAfter(this.wanted ?? this.source.known, event);
    const difference = messageDifference(this.shown, this.wanted, { isNewStream: this.isNewStream });
    if (difference.type === 'restart') return this.restart();
    this.isNewStream = false;
    this.shown = difference.shown;
    this.source.onMessage(this.wanted);
    return difference.chunks;
  }

  private endWith(end: ResponseEnd): readonly UIMessageChunk[] {
    this.isOver = true;
    this.source.onEnd(end);
    if (end.error !== undefined) return [{ type: 'error', errorText: end.error }];
    return [{ type: 'finish', finishReason: end.finishReason }];
  }

  private restart(): readonly UIMessageChunk[] {
    this.isOver = true;
    this.source.onEnd('restart');
    return [{ type: 'finish', finishReason: 'other' }]; // after `interrupted`, a chat sends no decision on this message
  }
}
