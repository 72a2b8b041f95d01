import type { Clock } from '@holdfast/core';
import type { UIMessage, UIMessageChunk } from 'ai';
import { chunksBetween } from '../chunks/chunks-between.ts';
import { eventBetween } from '../wire/response-event.ts';
import type { ResponseEnd } from '../wire/response-event.ts';
import { EVENT_STREAM_HEADERS, HEARTBEAT, serverSentEvent } from '../wire/server-sent-events.ts';
import type { FollowedResponse } from './followed-response.ts';

/** The representation of a response: our events, or the chunks of the AI SDK. */
export type ResponseFormat = 'events' | 'chunks';

const CHUNK_HEADERS = { ...EVENT_STREAM_HEADERS, 'x-vercel-ai-ui-message-stream': 'v1' };

/** The milliseconds after which an idle stream sends a heartbeat. */
const HEARTBEAT_PAUSE = 15_000;

interface StreamParts {
  readonly clock: Clock;
  /** Called once, when the stream has ended or its reader has left. */
  readonly onEnd: () => void;
}

/** Streams a response. The next event is made when the reader has taken the one before, so nothing is queued for it. */
export function responseStream(
  response: AsyncGenerator<FollowedResponse, void, undefined>,
  format: ResponseFormat,
  parts: StreamParts,
): Response {
  const texts = format === 'events' ? eventTexts(response) : chunkTexts(response);
  const headers = format === 'events' ? EVENT_STREAM_HEADERS : CHUNK_HEADERS;
  return textStream(texts, headers, parts);
}

/** Returns a response with a body of texts. */
export function textStream(
  texts: AsyncGenerator<string, void, undefined>,
  headers: Readonly<Record<string, string>>,
  { clock, onEnd }: StreamParts,
): Response {
  const encoder = new TextEncoder();
  const end = async (): Promise<void> => {
    stopHeartbeat();
    onEnd();
    await texts.return();
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
          const { done, value } = await texts.next();
          if (!done) return controller.enqueue(encoder.encode(value));
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

async function* eventTexts(
  response: AsyncIterable<FollowedResponse>,
): AsyncGenerator<string, void, undefined> {
  let shown: UIMessage | undefined;
  for await (const { message, end } of response) {
    const event = message && eventBetween(shown, message);
    if (shown && message && message.id !== shown.id) return yield serverSentEvent({ type: 'restart' });
    shown = message ?? shown;
    const texts = [event, end].filter((each) => each !== undefined).map(serverSentEvent);
    if (texts.length > 0) yield texts.join('');
  }
}

async function* chunkTexts(
  response: AsyncIterable<FollowedResponse>,
): AsyncGenerator<string, void, undefined> {
  let shown: UIMessage | undefined;
  for await (const { message, end } of response) {
    const difference = message && chunksBetween(shown, message);
    if (difference?.type === 'restart') {
      yield texts([{ type: 'finish', finishReason: 'interrupted' }]) + DONE;
      return;
    }
    shown = difference?.shown ?? shown;
    const chunks = [...(difference?.chunks ?? []), ...endChunks(end)];
    if (chunks.length > 0) yield texts(chunks) + (end ? DONE : '');
  }
}

const DONE = 'data: [DONE]\n\n';

function texts(chunks: readonly UIMessageChunk[]): string {
  return chunks.map(serverSentEvent).join('');
}

/** Returns the chunks that end a stream. */
function endChunks(end: ResponseEnd | undefined): readonly UIMessageChunk[] {
  if (end === undefined) return [];
  if (end.error !== undefined) return [{ type: 'error', errorText: end.error }];
  return [{ type: 'finish', finishReason: end.finishReason }];
}
