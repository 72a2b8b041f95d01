import { readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai';
import { chunksBetween } from '@holdfast/ui-ai-sdk';

/** A part that the SDK adds when a stream ends, so that it passes on the message with all parts before. */
const LAST: UIMessageChunk = { type: 'text-start', id: 'last' };

/** Returns the message that the SDK forms from a stream that continues a message. */
export async function read(
  message: UIMessage | undefined,
  chunks: readonly UIMessageChunk[],
): Promise<UIMessage | undefined> {
  if (chunks.length === 0) return message;
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const chunk of [...chunks, LAST]) controller.enqueue(overWire(chunk));
      controller.close();
    },
  });
  const before = message && structuredClone(message);
  let last: UIMessage | undefined;
  for await (const next of readUIMessageStream({
    stream,
    ...(before && { message: before }),
    terminateOnError: true,
  }))
    last = next;
  return last && { ...last, parts: last.parts.slice(0, -1) };
}

function overWire<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

/** Returns a message as the SDK forms it: without members that are `undefined`, and with the input that has arrived. */
export function asRead(message: UIMessage | undefined): unknown {
  return message && overWire({ ...message, parts: message.parts.map(withoutInput) });
}

function withoutInput(part: UIMessage['parts'][number]): object {
  if (!('toolCallId' in part) || part.state !== 'input-streaming') return part;
  const { input: _, ...rest } = part;
  return rest;
}

/** The message that a page shows, after the chunks of one or several streams. */
export class Page {
  shown: UIMessage | undefined;
  restarts = 0;
  /** The messages that the page had, and those that it should have had. */
  readonly had: unknown[] = [];
  readonly expected: unknown[] = [];
  private before: UIMessage | undefined;
  private stream: UIMessageChunk[] = [];
  private isNewStream = false;

  /** Brings the page up to date. A page that must restart loads the wanted message. */
  async show(wanted: UIMessage): Promise<void> {
    const difference = chunksBetween(this.shown, wanted, { isNewStream: this.isNewStream });
    this.isNewStream = false;
    if (difference.type === 'restart') {
      await this.reconnect();
      this.restarts++;
      this.before = this.shown = wanted;
      return;
    }
    this.stream.push(...difference.chunks);
    this.shown = difference.shown;
    this.compare(difference.shown?.parts ?? [], canHaveStart(difference.shown, wanted));
  }

  /** Ends the stream, and begins another one. */
  async reconnect(): Promise<void> {
    const message = await read(this.before, this.stream);
    this.compare(asRead(message), asRead(this.shown));
    this.before = this.shown;
    this.stream = [];
    this.isNewStream = true;
  }

  private compare(had: unknown, expected: unknown): void {
    this.had.push(had);
    this.expected.push(expected);
  }
}

/** Returns the parts that a page must show. It cannot take the start of a step back. */
function canHaveStart(shown: UIMessage | undefined, { parts }: UIMessage): UIMessage['parts'] {
  const hasStart = shown?.parts.length === parts.length + 1;
  return hasStart ? [...parts, { type: 'step-start' }] : parts;
}
