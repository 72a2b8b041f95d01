import { parseJsonEventStream } from 'ai';
import type { UIMessageChunk } from 'ai';
import { z } from 'zod';
import type { SessionDetails } from '../../src/client/api.ts';
import type { SessionView } from '../../src/session-view.ts';

/** Talks to a served playground as the page does. */
export class ChatClient {
  private readonly url: string;

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
  async json(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ readonly status: number; readonly value: unknown }> {
    const response = await this.call(method, path, body);
    return { status: response.status, value: await response.json() };
  }

  async create(): Promise<string> {
    const { value } = await this.json('POST', '/api/sessions');
    return (value as SessionView).sessionId;
  }

  async session(sessionId: string): Promise<SessionDetails> {
    return (await this.json('GET', `/api/sessions/${sessionId}`)).value as SessionDetails;
  }

  /** Sends a message; the answer streams. */
  async say(sessionId: string, text: string): Promise<Response> {
    return this.call('POST', `/api/sessions/${sessionId}/chat`, message(text));
  }
}

/** What the page sends. */
export function message(text: string): object {
  return { message: { id: '1', role: 'user', parts: [{ type: 'text', text }] } };
}

/** The chunks of a stream, as they come. */
export async function* chunksOf(response: Response): AsyncGenerator<UIMessageChunk> {
  if (!response.body) throw new Error('The answer has no body.');
  for await (const result of parseJsonEventStream({
    stream: response.body,
    schema: z.custom<UIMessageChunk>(),
  })) {
    if (!result.success) throw result.error;
    yield result.value;
  }
}

/** All chunks of a stream, to its end. */
export async function allChunks(response: Response): Promise<readonly UIMessageChunk[]> {
  return collect(chunksOf(response));
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
