/** The headers of a stream of server-sent events. */
export const EVENT_STREAM_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no', // nginx would hold events back
};

/** A comment, which keeps an idle connection open. */
export const HEARTBEAT = ': \n\n';

/** Returns the text of one event. */
export function serverSentEvent(data: unknown): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

/** Reads the data of events from the body of a response. `onBytes` is called whenever something arrives. */
export async function* readServerSentEvents(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void = () => undefined,
): AsyncGenerator<unknown, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onBytes();
      const piece = decoder.decode(value, { stream: true });
      text += piece;
      if (!piece.includes('\n')) continue; // a long event arrives in many pieces
      const events = text.split('\n\n');
      text = events.pop() ?? '';
      for (const event of events) if (event.startsWith('data: ')) yield JSON.parse(event.slice(6)) as unknown;
    }
  } finally {
    await reader.cancel().catch(() => undefined); // the connection may have failed
  }
}
