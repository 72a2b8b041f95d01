import { readServerSentEvents } from '../wire/server-sent-events.ts';

/** The headers of a request. */
export type RequestHeaders = Headers | Record<string, string>;

/** How a page reaches the handler. */
export interface ConnectionOptions {
  /** The path or URL of the handler. Default: `/api/chat`. */
  readonly api?: string;
  /** Headers of each request. A function is called for each one. */
  readonly headers?: RequestHeaders | (() => RequestHeaders | Promise<RequestHeaders>);
  /** Default: `same-origin`. */
  readonly credentials?: 'omit' | 'same-origin' | 'include';
  /** Default: the `fetch` of the page. */
  readonly fetch?: typeof globalThis.fetch;
  /** Receives `false` when the server cannot be reached, and `true` when it replies again. */
  readonly onConnection?: (isConnected: boolean) => void;
}

/** A request that the server refused. */
export class ChatResponseError extends Error {
  override readonly name = 'ChatResponseError';
  /** The code of the error, such as `CHAT_RATE_LIMITED`. */
  readonly code: string;
  /** The HTTP status. */
  readonly status: number;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

/** One request to the handler. */
export interface ChatRequestInit {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** The path behind that of the handler, from the slash on. */
  readonly path: string;
  readonly body?: object;
  readonly headers?: RequestHeaders | undefined;
  readonly signal?: AbortSignal | undefined;
  /** When it aborts, no further attempt begins. */
  readonly withdrawn?: AbortSignal | undefined;
}

/** A stream without news and without heartbeats for so long is broken. */
const LONGEST_SILENCE_MS = 45_000;
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 5_000;

/** Sends requests to the handler. */
export class ChatConnection {
  private readonly options: ConnectionOptions;
  private isConnected = true;

  constructor(options: ConnectionOptions) {
    this.options = options;
  }

  /**
   * Sends a request until the server replies to it. A status that can pass, such as that of a restart, counts as no reply.
   * @throws ChatResponseError for a refusal; the reason of a signal.
   */
  async request(init: ChatRequestInit): Promise<Response> {
    const signals = [init.signal, init.withdrawn].filter((signal) => signal !== undefined);
    const ending = AbortSignal.any(signals);
    for (let attempt = 0; ; attempt++) {
      ending.throwIfAborted();
      const response = await this.requestOnce(init);
      if (response?.ok) return response;
      if (response && !isPassing(response.status)) throw await errorOf(response);
      await this.pauseAfter(attempt, ending);
    }
  }

  /** Returns the events of a response, until they end or the connection breaks. */
  async *events(
    response: Response,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<unknown, void, undefined> {
    const silence = new AbortController();
    const listen = (): ReturnType<typeof setTimeout> => setTimeout(() => silence.abort(), LONGEST_SILENCE_MS);
    let timer = listen();
    // Through a pipe, because a signal can abort a pipe, and no reader.
    const body = response.body?.pipeThrough(new TransformStream<Uint8Array, Uint8Array>(), {
      signal: signal ? AbortSignal.any([signal, silence.signal]) : silence.signal,
    });
    try {
      if (body)
        yield* readServerSentEvents(body, () => {
          clearTimeout(timer);
          timer = listen();
        });
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof SyntaxError) throw error;
      this.report(false);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Waits before another attempt; longer after each one. @throws the signal's reason. */
  async pauseAfter(attempt: number, signal: AbortSignal | undefined): Promise<void> {
    await pause(Math.min(FIRST_PAUSE_MS * 2 ** attempt, LONGEST_PAUSE_MS), signal);
    signal?.throwIfAborted();
  }

  /** Sends a request once; returns `undefined` when the server does not reply. */
  private async requestOnce({
    method,
    path,
    body,
    headers,
    signal,
  }: ChatRequestInit): Promise<Response | undefined> {
    const { api = '/api/chat', credentials = 'same-origin', fetch = globalThis.fetch } = this.options;
    signal?.throwIfAborted();
    const own = await this.headers();
    const merged = new Headers(own);
    for (const [name, value] of new Headers(headers)) merged.set(name, value);
    if (body) merged.set('content-type', 'application/json');
    const content = body && { body: JSON.stringify(body) }; // throws for a value that no repetition can send
    try {
      const response = await fetch(`${api}${path}`, {
        method,
        headers: merged,
        credentials,
        ...content,
        ...(signal && { signal }),
      });
      this.report(!isPassing(response.status));
      return response;
    } catch {
      signal?.throwIfAborted();
      this.report(false);
      return undefined;
    }
  }

  private async headers(): Promise<RequestHeaders> {
    const { headers = {} } = this.options;
    return typeof headers === 'function' ? headers() : headers;
  }

  private report(isConnected: boolean): void {
    if (isConnected === this.isConnected) return;
    this.isConnected = isConnected;
    this.options.onConnection?.(isConnected);
  }
}

/** True for a status that says nothing about the request: the server restarts, or has too much to do. */
function isPassing(status: number): boolean {
  return status === 408 || status === 425 || (status >= 502 && status <= 504);
}

async function errorOf(response: Response): Promise<ChatResponseError> {
  const { status } = response;
  const body: unknown = await response.json().catch(() => undefined);
  const { error } = (body ?? {}) as { error?: { code?: unknown; message?: unknown } };
  const code = typeof error?.code === 'string' ? error.code : 'CHAT_FAILED';
  const message =
    typeof error?.message === 'string' ? error.message : `The server replied with status ${status}.`;
  return new ChatResponseError(status, code, message);
}

/** Resolves after a time, or when the signal aborts. */
function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  signal?.addEventListener('abort', () => resolve(), { once: true });
  return promise.finally(() => clearTimeout(timer));
}
