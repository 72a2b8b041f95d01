import type { Clock } from '@holdfast/core';
import type { UIMessage, UIMessageChunk } from 'ai';
import { chunksBetween } from '../chunks/chunks-between.ts';
import { eventBetween } from '../wire/response-event.ts';
import type { ResponseEnd } from '../wire/response-event.ts';
import { EVENT_STREAM_HEADERS, HEARTBEAT, serverSentEvent } from '../wire/server-sent-events.ts';
import type { FollowedResponse } from './followed-response.ts';
import { sharedResult } from './shared-result.ts';

/** The representation of a response: our events, or the chunks of the AI SDK. */
export type ResponseFormat = 'events' | 'chunks';

const CHUNK_HEADERS = { ...EVENT_STREAM_HEADERS, 'x-vercel-ai-ui-message-stream': 'v1' };

/** The milliseconds after which an idle stream sends a heartbeat. */
const HEARTBEAT_PAUSE = 15_000;

/** The largest number of characters that are encoded at once. */
const PIECE_LENGTH = 65_536;

const encoder = new TextEncoder();

interface StreamParts {
  readonly clock: Clock;
  /** Called once, when the stream has ended or its reader has left. */
  readonly onEnd: () => void;
}

interface ResponseParts extends StreamParts {
  /** The message that a page continues; chunks lead on from it. */
  readonly shown: UIMessage | undefined;
}

/** Streams a response. The next event is made when the reader has taken the one before, so nothing is queued for it. */
export function responseStream(
  response: AsyncGenerator<FollowedResponse, void, undefined>,
  format: ResponseFormat,
  { shown, ...parts }: ResponseParts,
): Response {
  const texts = format === 'events' ? eventTexts(response) : chunkTexts(response, shown);
  const headers = format === 'events' ? EVENT_STREAM_HEADERS : CHUNK_HEADERS;
  return textStream(texts, headers, parts);
}

/** Returns a response with a body of texts. */
export function textStream(
  texts: AsyncGenerator<string, void, undefined>,
  headers: Readonly<Record<string, string>>,
  { clock, onEnd }: StreamParts,
): Response {
  const pieces = encodedPieces(texts);
  const end = async (): Promise<void> => {
    stopHeartbeat();
    onEnd();
    await pieces.return();
  };
  let stopHeartbeat = (): void => undefined;
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        controller.enqueue(encoder.encode(HEARTBEAT)); // the page learns at once that its request was taken
        stopHeartbeat = every(clock, HEARTBEAT_PAUSE, () => {
          const isWaiting = (controller.desiredSize ?? 0) > 0;
          if (isWaiting) controller.enqueue(encoder.encode(HEARTBEAT));
        });
      },
      async pull(controller) {
        try {
          const { done, value } = await pieces.next();
          if (!done) return controller.enqueue(value);
          await end();
          controller.close();
        } catch (error) {
          await end();
          controller.error(error);
        }
      },
      cancel: end,
    },
    { highWaterMark: 1 },
  );
  return new Response(body, { headers });
}

/** Encodes texts piece by piece: a reader that is slow holds the bytes of one piece. */
async function* encodedPieces(
  texts: AsyncGenerator<string, void, undefined>,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const text of texts) {
    for (let from = 0; from < text.length;) {
      const to = endOfPiece(text, from);
      yield encoder.encode(text.slice(from, to));
      from = to;
    }
  }
}

/** Returns the end of the piece that begins at an index. A pair of surrogates stays together. */
function endOfPiece(text: string, from: number): number {
  const to = Math.min(from + PIECE_LENGTH, text.length);
  const isWithinPair = to < text.length && isHighSurrogate(text.charCodeAt(to - 1));
  return isWithinPair ? to - 1 : to;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function every(clock: Clock, milliseconds: number, act: () => void): () => void {
  let cancel = (): void => undefined;
  const schedule = (): void => {
    const timer = clock.after ? clock.after(milliseconds, tick) : setTimeoutCancel(milliseconds, tick);
    cancel = timer;
  };
  const tick = (): void => {
    act();
    schedule();
  };
  schedule();
  return () => cancel();
}

function setTimeoutCancel(milliseconds: number, act: () => void): () => void {
  const timer = setTimeout(act, milliseconds);
  return () => clearTimeout(timer);
}

/** Returns the text of the event between two messages; `undefined` when both are equal. */
const sharedEventText = sharedResult((shown, wanted) => {
  const event = eventBetween(shown, wanted);
  return event && serverSentEvent(event);
});

async function* eventTexts(
  response: AsyncIterable<FollowedResponse>,
): AsyncGenerator<string, void, undefined> {
  let shown: UIMessage | undefined;
  for await (const { message, end } of response) {
    if (shown && message && message.id !== shown.id) return yield serverSentEvent({ type: 'restart' });
    const text = message && sharedEventText(shown, message);
    shown = message ?? shown;
    if (text !== undefined) yield text;
    if (end) return yield serverSentEvent(end);
  }
  yield serverSentEvent({ type: 'restart' }); // the chat was deleted
}

/** The chunks between two messages, as text. */
type ChunkText =
  | { readonly type: 'chunks'; readonly shown: UIMessage | undefined; readonly text: string }
  | { readonly type: 'restart' };

function chunkText(shown: UIMessage | undefined, wanted: UIMessage, isNewStream: boolean): ChunkText {
  const difference = chunksBetween(shown, wanted, { isNewStream });
  if (difference.type === 'restart') return difference;
  return { type: 'chunks', shown: difference.shown, text: texts(difference.chunks) };
}

const sharedChunkText = sharedResult((shown, wanted) => chunkText(shown, wanted, false));

async function* chunkTexts(
  response: AsyncIterable<FollowedResponse>,
  continued: UIMessage | undefined,
): AsyncGenerator<string, void, undefined> {
  let shown: UIMessage | undefined;
  for await (const { message, end } of response) {
    const isContinued = shown === undefined && continued !== undefined && continued.id === message?.id;
    const next = isContinued
      ? chunkText(continued, message, true)
      : message && sharedChunkText(shown, message);
    if (next?.type === 'restart') {
      yield texts([{ type: 'finish', finishReason: 'interrupted' }]) + DONE;
      return;
    }
    shown = next?.shown ?? shown;
    if (next && next.text !== '') yield next.text;
    if (end) yield texts(endChunks(end)) + DONE;
  }
}

const DONE = 'data: [DONE]\n\n';

function texts(chunks: readonly UIMessageChunk[]): string {
  return chunks.map(serverSentEvent).join('');
}

/** Returns the chunks that end a stream. */
function endChunks(end: ResponseEnd): readonly UIMessageChunk[] {
  if (end.error !== undefined) return [{ type: 'error', errorText: end.error }];
  return [{ type: 'finish', finishReason: end.finishReason }];
}
