import type { UIMessage, UIMessageChunk } from 'ai';
import { messageDifference } from '../chunks/message-difference.ts';
import { eventBetween, type ResponseEnd } from '../wire/response-event.ts';
import { EVENT_STREAM_HEADERS, serverSentEvent } from '../wire/server-sent-events.ts';
import type { FollowedResponse } from './followed-response.ts';
import { sharedResult } from './shared-result.ts';
import { textStream, type TextStreamOptions } from './text-stream.ts';

/** The representation of a response: our events, or the chunks of the AI SDK. */
export type ResponseFormat = 'events' | 'chunks';

const CHUNK_HEADERS = { ...EVENT_STREAM_HEADERS, 'x-vercel-ai-ui-message-stream': 'v1' };

interface ResponseStreamOptions extends TextStreamOptions {
  /** The message that the page shows and continues; chunks lead on from it. */
  readonly continued: UIMessage | undefined;
}

/** Streams a response. The next event is made when the reader has taken the one before, so nothing is queued for it. */
export function responseStream(
  response: AsyncGenerator<FollowedResponse, void, undefined>,
  format: ResponseFormat,
  { continued, ...options }: ResponseStreamOptions,
): Response {
  const texts = format === 'events' ? eventTexts(response, continued) : chunkTexts(response, continued);
  const headers = format === 'events' ? EVENT_STREAM_HEADERS : CHUNK_HEADERS;
  return textStream(texts, headers, options);
}

/** Returns the text of the event between two messages; `undefined` when both are equal. */
const sharedEventText = sharedResult((shown, wanted) => {
  const event = eventBetween(shown, wanted);
  return event && serverSentEvent(event);
});

async function* eventTexts(
  response: AsyncIterable<FollowedResponse>,
  continued: UIMessage | undefined,
): AsyncGenerator<string, void, undefined> {
  let shown = continued;
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
  const difference = messageDifference(shown, wanted, { isNewStream });
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
