import { ChatRequestError } from './chat-error.ts';

/**
 * Refuses a request that a page of another origin made, unless the origin is allowed. A request without an origin comes
 * from another program, or is a navigation.
 * @throws ChatRequestError `CHAT_ORIGIN_REFUSED`.
 */
export function checkOrigin(request: Request, allowed: readonly string[]): void {
  const origin = request.headers.get('origin');
  const site = request.headers.get('sec-fetch-site');
  if (site === 'same-origin' || (origin === null && site === null)) return;
  if (origin !== null && (allowed.includes(origin) || (site === null && isOwnOrigin(origin, request))))
    return;
  if (origin === null && (request.method === 'GET' || site === 'none')) return; // the browser shows the answer to no other page
  throw new ChatRequestError('CHAT_ORIGIN_REFUSED', 'Pages of this origin may not use the chat.');
}

function isOwnOrigin(origin: string, { url, headers }: Request): boolean {
  if (!URL.canParse(origin)) return false;
  const { host } = new URL(origin);
  return host === (headers.get('host') ?? new URL(url).host);
}

/** Returns the headers that let a page of an allowed origin read the response. */
export function corsHeaders(request: Request, allowed: readonly string[]): Record<string, string> {
  const origin = request.headers.get('origin');
  if (allowed.length === 0) return {};
  const vary = { vary: 'origin' };
  if (origin === null || !allowed.includes(origin)) return vary;
  return { ...vary, 'access-control-allow-origin': origin, 'access-control-allow-credentials': 'true' };
}

/** Returns the response to the question of a browser whether a page may send a request. */
export function preflightResponse(request: Request, headers: Record<string, string>): Response {
  const methods = 'GET, POST, DELETE';
  const isAllowed = 'access-control-allow-origin' in headers;
  const asked = isAllowed ? request.headers.get('access-control-request-headers') : null;
  return new Response(null, {
    status: 204,
    headers: {
      ...headers,
      'access-control-allow-methods': methods,
      'access-control-allow-headers': asked ?? 'authorization, content-type',
      'access-control-max-age': '600',
    },
  });
}
