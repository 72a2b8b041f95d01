import { OWNER } from './chat-world.ts';

const BASE = 'https://chat.example/api/chat';

type Handler = (request: Request) => Promise<Response>;

/** A reply of a handler: its status and its JSON. */
export interface Reply {
  readonly status: number;
  readonly json: unknown;
}

/** Sends a request to a handler, and reads the whole reply. */
export async function send(
  handler: Handler,
  method: string,
  path: string,
  { body, headers = {} }: { readonly body?: unknown; readonly headers?: Record<string, string> } = {},
): Promise<Reply> {
  const response = await handler(requestOf(method, path, body, headers));
  const text = await response.text();
  return { status: response.status, json: text.startsWith('{') ? JSON.parse(text) : text };
}

/** A request for a chat, by default with a JSON body. */
export function requestOf(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Request {
  const json = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  return new Request(`${BASE}${path}`, { method, headers: { ...type, ...headers }, ...json });
}

/** The body of a new message. */
export function messageBody(chatId: string, id: string, text: string): object {
  return {
    id: chatId,
    trigger: 'submit-message',
    message: { id, role: 'user', parts: [{ type: 'text', text }] },
  };
}

/** The id of the session of a chat. */
export function sessionOf(chatId: string): string {
  return `${OWNER}/${chatId}`;
}
