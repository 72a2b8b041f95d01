import { Agent, request, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import type { UIMessageChunk } from 'ai';

/** Each stream has a connection of its own, as in as many browsers. */
const agent = new Agent({ maxSockets: Infinity, keepAlive: false });

/** A request to the handler. */
interface ChatRequest {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly body?: object;
  readonly owner?: string;
}

/** A response whose body is read only on demand. */
export class ChatReply {
  readonly status: number;
  private readonly response: IncomingMessage;

  private constructor(response: IncomingMessage) {
    this.response = response;
    this.status = response.statusCode ?? 0;
    response.on('error', () => undefined); // the test closed it, or the server was killed
  }

  static async of(
    url: string,
    { method = 'GET', body, owner = 'ada' }: ChatRequest = {},
  ): Promise<ChatReply> {
    const headers = { 'x-owner': owner, ...(body && { 'content-type': 'application/json' }) };
    const sent = request(url, { method, headers, agent }).on('error', () => undefined);
    sent.end(body && JSON.stringify(body));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return new ChatReply(response);
  }

  close(): void {
    this.response.destroy();
  }

  /** Returns the rest of the body. */
  async text(): Promise<string> {
    let text = '';
    for await (const piece of this.response.setEncoding('utf8')) text += String(piece);
    return text;
  }

  /** Returns the text of the response in a stream of chunks, and its last chunk. */
  async answer(): Promise<{ readonly text: string; readonly end: UIMessageChunk | undefined }> {
    const chunks = (await this.text())
      .split('\n\n')
      .filter((event) => event.startsWith('data: {'))
      .map((event) => JSON.parse(event.slice('data: '.length)) as UIMessageChunk);
    const text = chunks.map((chunk) => (chunk.type === 'text-delta' ? chunk.delta : '')).join('');
    return { text, end: chunks.at(-1) };
  }
}

/** Returns the body of a new message in the chat `c1`. */
export function messageBody(text: string): object {
  const message = { id: crypto.randomUUID(), role: 'user', parts: [{ type: 'text', text }] };
  return { id: 'c1', trigger: 'submit-message', message };
}
