import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { WireResponse } from './wire.ts';

/** A request as the server received it. `body` is the parsed JSON. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

/** How a response breaks. `after` counts the chunks that the client receives first. */
export type Break =
  /** The server destroys the socket. */
  | { readonly type: 'cut'; readonly after: number }
  /** The body ends in order. */
  | { readonly type: 'end'; readonly after: number }
  /** The server sends `event`, then the body ends in order. */
  | { readonly type: 'fail'; readonly after: number; readonly event: string | Uint8Array }
  /** The server calls `onHeld`, and sends nothing more until the client leaves. */
  | { readonly type: 'hold'; readonly after: number; readonly onHeld: () => void };

/** A response of the script. */
export interface ScriptedResponse {
  readonly response: WireResponse;
  readonly break?: Break | undefined;
}

/** Returns the response to a request. `index` counts the requests from 0. */
export type Script = (request: RecordedRequest, index: number) => ScriptedResponse;

/** Answers with these responses, in order. A request past their end gets status 418. */
export function inOrder(responses: readonly ScriptedResponse[]): Script {
  return (_, index) => responses[index] ?? { response: NOTHING_LEFT };
}

/** A server that answers requests from a script. */
export class ProviderServer {
  readonly requests: RecordedRequest[] = [];
  private script: Script = inOrder([]);
  private readonly server = createServer((request, response) => void this.reply(request, response));

  static async start(): Promise<ProviderServer> {
    const started = new ProviderServer();
    started.server.listen(0, '127.0.0.1');
    await once(started.server, 'listening');
    return started;
  }

  get url(): string {
    const { port } = this.server.address() as AddressInfo;
    return `http://127.0.0.1:${port}`;
  }

  /** The bodies of the requests. */
  get bodies(): readonly unknown[] {
    return this.requests.map(({ body }) => body);
  }

  /** Forgets the requests, and answers from this script from now on. */
  play(script: Script): void {
    this.requests.length = 0;
    this.script = script;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async reply(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: path = '', headers } = request;
    const recorded = { method, path, headers, body: await json(request) };
    const next = this.script(recorded, this.requests.push(recorded) - 1);
    const { status, headers: sent } = next.response;
    response.writeHead(status, { ...sent, connection: 'close' });
    response.flushHeaders();
    await sendBody(response, next);
  }
}

/** The answer past the end of a script. */
export const NOTHING_LEFT: WireResponse = { status: 418, headers: {}, chunks: ['No response is left.'] };

async function sendBody(
  response: ServerResponse,
  { response: { chunks }, break: broken }: ScriptedResponse,
): Promise<void> {
  for (const chunk of chunks.slice(0, broken?.after)) await written(response, chunk);
  switch (broken?.type) {
    case 'cut':
      response.socket?.destroy();
      return;
    case 'fail':
      response.end(broken.event);
      return;
    case 'hold':
      broken.onHeld();
      return;
    case 'end':
    default:
      response.end();
  }
}

/** Resolves when the system has taken the chunk. A client that left does not count as a failure. */
function written(response: ServerResponse, chunk: string | Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    response.write(chunk, () => resolve());
  });
}
