import type { Clock } from '@holdfast/core';
import { ChatRequestError } from './chat-error.ts';
import type { ChatLimits } from './chat-options.ts';

/** The limits of a handler. */
export type Limits = Required<ChatLimits>;

export const DEFAULT_LIMITS: Limits = { bodyBytes: 4_000_000, requestsPerMinute: 120, streams: 50 };

const MINUTE = 60_000;

interface Usage {
  streams: number;
  requests: number;
  minute: number;
}

/** Counts the requests and streams of each owner in this process. */
export class OwnerUsage {
  private readonly limits: Limits;
  private readonly clock: Clock;
  private readonly byOwner = new Map<string, Usage>();
  private lastMinute = 0;

  constructor(limits: Limits, clock: Clock) {
    this.limits = limits;
    this.clock = clock;
  }

  /** Counts a request that changes something. @throws ChatRequestError `CHAT_RATE_LIMITED`. */
  countRequest(owner: string): void {
    const usage = this.usageOf(owner);
    if (++usage.requests > this.limits.requestsPerMinute)
      throw new ChatRequestError('CHAT_RATE_LIMITED', 'Too many requests. Try again in a minute.');
  }

  /** Counts a stream, and returns the function that ends it. @throws ChatRequestError `CHAT_RATE_LIMITED`. */
  openStream(owner: string): () => void {
    const usage = this.usageOf(owner);
    if (usage.streams >= this.limits.streams)
      throw new ChatRequestError(
        'CHAT_RATE_LIMITED',
        'Too many open streams. Close some pages of this chat.',
      );
    usage.streams++;
    let isOpen = true;
    return () => {
      if (isOpen) usage.streams--;
      isOpen = false;
    };
  }

  private usageOf(owner: string): Usage {
    const minute = Math.floor(this.clock.now() / MINUTE);
    if (minute !== this.lastMinute) this.forgetIdle(minute);
    const usage = this.byOwner.get(owner) ?? { streams: 0, requests: 0, minute };
    this.byOwner.set(owner, usage);
    if (usage.minute !== minute) Object.assign(usage, { requests: 0, minute });
    return usage;
  }

  private forgetIdle(minute: number): void {
    this.lastMinute = minute;
    for (const [owner, { streams }] of this.byOwner) if (streams === 0) this.byOwner.delete(owner);
  }
}

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
export function preflightResponse(headers: Record<string, string>): Response {
  const methods = 'GET, POST, DELETE';
  return new Response(null, {
    status: 204,
    headers: {
      ...headers,
      'access-control-allow-methods': methods,
      'access-control-allow-headers': 'authorization, content-type',
      'access-control-max-age': '600',
    },
  });
}

/**
 * Reads the JSON body of a request, and stops at the limit.
 * @throws ChatRequestError `CHAT_TYPE_UNKNOWN`, `CHAT_BODY_TOO_LARGE` or `CHAT_REQUEST_INVALID`.
 */
export async function readBody(request: Request, limit: number): Promise<Readonly<Record<string, unknown>>> {
  const type = request.headers.get('content-type') ?? '';
  if (!/^application\/json\s*(;|$)/i.test(type))
    throw new ChatRequestError('CHAT_TYPE_UNKNOWN', 'Send JSON, with the content type application/json.');
  const text = await textOf(request, limit);
  const value = parsed(text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Readonly<Record<string, unknown>>;
  throw new ChatRequestError('CHAT_REQUEST_INVALID', 'The body must be a JSON object.');
}

async function textOf({ body, headers }: Request, limit: number): Promise<string> {
  const tooLarge = () =>
    new ChatRequestError('CHAT_BODY_TOO_LARGE', `The body has more than ${limit} bytes. Send less at once.`);
  if (Number(headers.get('content-length')) > limit) throw tooLarge();
  const decoder = new TextDecoder();
  let [text, length] = ['', 0];
  for await (const piece of body ?? []) {
    length += piece.byteLength;
    if (length > limit) throw tooLarge();
    text += decoder.decode(piece, { stream: true });
  }
  return text + decoder.decode();
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
