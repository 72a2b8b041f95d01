import type { WireResponse } from '../wire.ts';

/** A server-sent event with this data, without a name. */
export function dataEvent(data: unknown): string {
  return `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
}

/** A server-sent event whose name is the `type` of its data, as in the Responses and Messages protocols. */
export function namedEvent(data: { readonly type: string }): string {
  return `event: ${data.type}\n${dataEvent(data)}`;
}

export function jsonResponse(
  body: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): WireResponse {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    chunks: [JSON.stringify(body)],
  };
}

export function eventStream(chunks: WireResponse['chunks']): WireResponse {
  return { status: 200, headers: { 'content-type': 'text/event-stream' }, chunks };
}
