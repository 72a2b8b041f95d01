import { parseJsonEventStream, type UIMessage, type UIMessageChunk } from 'ai';
import { z } from 'zod';
import type { SessionView } from '../../src/view/session-view.ts';
import { viewAfter, type ViewEvent } from '../../src/view/view-change.ts';

/** A reply with its JSON. */
interface Reply {
  readonly status: number;
  readonly value: unknown;
}

/** Talks to a served playground as the page does. */
export class ChatClient {
  readonly url: string;

  constructor(url: string) {
    this.url = url;
  }

  async call(method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) {
    const text = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
    return fetch(this.url + path, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...text,
    });
  }

  /** Status and JSON of an answer. */
  async json(method: string, path: string, body?: unknown): Promise<Reply> {
    const response = await this.call(method, path, body);
    return { status: response.status, value: await response.json() };
  }

  /** Sends a message; the answer streams. The first message creates the session. */
  async say(sessionId: string, text: string): Promise<Response> {
    return this.call('POST', '/api/chat', message(sessionId, text));
  }

  /** Sends a message, and returns all of its answer. */
  async ask(sessionId: string, text: string): Promise<readonly UIMessageChunk[]> {
    return collect(chunksOf(await this.say(sessionId, text)));
  }

  async messages(sessionId: string): Promise<readonly UIMessage[]> {
    const { value } = await this.json('GET', `/api/chat/${sessionId}`);
    return (value as { messages: readonly UIMessage[] }).messages;
  }

  /** The views of a session as they come; `bytes` counts what the server has sent for them. */
  async *views(
    sessionId: string,
    received: { bytes: number } = { bytes: 0 },
  ): AsyncGenerator<SessionView, void, undefined> {
    const closing = new AbortController();
    const response = await fetch(`${this.url}/api/sessions/${sessionId}/view`, { signal: closing.signal });
    let view: SessionView | undefined;
    try {
      for await (const event of eventsOf<ViewEvent>(response)) {
        received.bytes += JSON.stringify(event).length;
        if (event.type !== 'change') throw new Error(`The view is ${event.type}.`);
        yield (view = viewAfter(view, event.change));
      }
    } finally {
      closing.abort();
    }
  }

  /** The first view of a session that is as expected. */
  async viewWhere(sessionId: string, isExpected: (view: SessionView) => boolean): Promise<SessionView> {
    for await (const view of this.views(sessionId)) if (isExpected(view)) return view;
    throw new Error('The views ended.');
  }

  /** The view of a session now. */
  view(sessionId: string): Promise<SessionView> {
    return this.viewWhere(sessionId, () => true);
  }
}

/** What the page sends. */
export function message(sessionId: string, text: string): object {
  const parts = [{ type: 'text', text }];
  const sent = { id: crypto.randomUUID(), role: 'user', parts };
  return { id: sessionId, trigger: 'submit-message', message: sent };
}

/** The decision of a user on the call that waits in a conversation. */
export function decision(sessionId: string, approvalId: unknown, approved: unknown): object {
  const approval = { id: approvalId, approved };
  const part = { type: 'tool-pay', toolCallId: 'any', state: 'approval-responded', approval };
  return { id: sessionId, trigger: 'submit-message', message: { id: 'a', role: 'assistant', parts: [part] } };
}

/** The events of a stream, as they come. */
async function* eventsOf<Event>(response: Response): AsyncGenerator<Event, void, undefined> {
  if (!response.body) throw new Error('The answer has no body.');
  for await (const result of parseJsonEventStream({ stream: response.body, schema: z.custom<Event>() })) {
    if (!result.success) throw result.error;
    yield result.value;
  }
}

/** The chunks of a stream, as they come. */
export function chunksOf(response: Response): AsyncGenerator<UIMessageChunk, void, undefined> {
  return eventsOf<UIMessageChunk>(response);
}

/** Everything that is still to come. */
export async function collect<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** All text in chunks. */
export function textIn(chunks: readonly UIMessageChunk[]): string {
  return chunks.map((chunk) => (chunk.type === 'text-delta' ? chunk.delta : '')).join('');
}
