import type { Clock } from '@holdfast/core';
import { callAfter } from '@holdfast/core/engine';
import { HEARTBEAT } from '../wire/server-sent-events.ts';

/** The time after which an idle stream sends a heartbeat. */
const HEARTBEAT_PAUSE_MS = 15_000;

/** The largest number of characters that are encoded at once. */
const PIECE_LENGTH = 65_536;

const encoder = new TextEncoder();

/** Options of `textStream`. */
export interface TextStreamOptions {
  readonly clock: Clock;
  /** Called when the stream has ended, and when its reader has left: perhaps for both. */
  readonly onEnd: () => void;
}

/** Returns a response with a body of texts, and of heartbeats while its reader waits for the next text. */
export function textStream(
  texts: AsyncGenerator<string, void, undefined>,
  headers: Readonly<Record<string, string>>,
  { clock, onEnd }: TextStreamOptions,
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
        const beat = (): void => {
          const isReading = (controller.desiredSize ?? 0) > 0;
          if (isReading) controller.enqueue(encoder.encode(HEARTBEAT));
          stopHeartbeat = callAfter(clock, HEARTBEAT_PAUSE_MS, beat);
        };
        beat(); // the first one at once: the page learns that its request was taken
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
