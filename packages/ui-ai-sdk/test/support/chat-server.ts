import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';

/** An HTTP server for a handler from `Request` to `Response`, on a free port. */
export class ChatServer {
  readonly url: string;
  private readonly server: Server;

  private constructor(server: Server, port: number) {
    this.server = server;
    this.url = `http://127.0.0.1:${port}`;
  }

  static async start(handler: (request: Request) => Promise<Response>, port = 0): Promise<ChatServer> {
    const server = createServer((incoming, outgoing) => void serve(handler, incoming, outgoing));
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    return new ChatServer(server, (server.address() as AddressInfo).port);
  }

  /** Cuts all open connections. The server continues. */
  cut(): void {
    this.server.closeAllConnections();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.cut();
    await closed;
  }
}

async function serve(
  handler: (request: Request) => Promise<Response>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const closing = new AbortController();
  outgoing.on('close', () => closing.abort());
  const { method = 'GET', url = '/', headers } = incoming;
  const hasBody = method !== 'GET' && method !== 'HEAD';
  const request = new Request(`http://${headers.host}${url}`, {
    method,
    headers: Object.entries(headers).map(([name, value]) => [name, String(value)]),
    signal: closing.signal,
    ...(hasBody && { body: Readable.toWeb(incoming) as ReadableStream, duplex: 'half' }),
  });
  const response = await handler(request);
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  try {
    for await (const piece of response.body ?? [])
      if (!outgoing.write(piece))
        await new Promise((resolve) => outgoing.once('drain', resolve).once('close', resolve));
    outgoing.end();
  } catch {
    outgoing.destroy(); // the connection was cut
  }
}
