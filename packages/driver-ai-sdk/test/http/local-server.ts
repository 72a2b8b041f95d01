import type { JsonValue } from '@holdfast/core';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

/** The reply to one request: JSON, or server-sent events, after which the stream ends without an error. */
export type Reply =
  | { readonly status?: number; readonly json: unknown }
  | { readonly events: readonly unknown[] };

/** The body of a request. */
export type Body = Readonly<Record<string, JsonValue>>;

/** A fake server of a provider. It sends its replies in order, and records the bodies of the requests. */
export interface LocalServer {
  readonly url: string;
  readonly bodies: readonly Body[];
}

const NOTHING_LEFT: Reply = { status: 400, json: { error: { message: 'No reply is left.' } } };
const servers: Server[] = [];

/** Starts a server on a free port. */
export async function localServer(...replies: readonly Reply[]): Promise<LocalServer> {
  const bodies: Body[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = (await json(request)) as Body;
    const reply = replies[bodies.length] ?? NOTHING_LEFT;
    bodies.push(body);
    response.setHeader('connection', 'close');
    if ('events' in reply) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(reply.events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
    } else {
      response.writeHead(reply.status ?? 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(reply.json));
    }
  };
  const server = createServer((request, response) => void answer(request, response));
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, bodies };
}

/** Closes the servers of a test. */
export async function stopLocalServers(): Promise<void> {
  const stopped = servers.splice(0).map((server) => {
    server.close();
    return once(server, 'close');
  });
  await Promise.all(stopped);
}
