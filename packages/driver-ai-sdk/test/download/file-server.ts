import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { certificate } from './certificate.ts';

/** A server of files, and what has reached it. */
export interface FileServer {
  readonly port: number;
  readonly requests: readonly IncomingMessage[];
  /** The number of connections. */
  readonly connections: () => number;
}

const servers: Server[] = [];

/** Starts a server on a free port of an address. */
export async function fileServer(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  { address = '127.0.0.2', isSecure = false }: { address?: string; isSecure?: boolean } = {},
): Promise<FileServer> {
  const requests: IncomingMessage[] = [];
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    requests.push(request);
    answer(request, response);
  };
  const server = isSecure ? createSecureServer(certificate, onRequest) : createServer(onRequest);
  let count = 0;
  server.on('connection', () => (count += 1));
  servers.push(server);
  server.listen(0, address);
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, requests, connections: () => count };
}

/** Closes the servers of a test. */
export async function stopFileServers(): Promise<void> {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  }
}

/** Answers with a picture. */
export const picture = (_: IncomingMessage, response: ServerResponse): void => {
  response.setHeader('content-type', 'image/png; charset=binary');
  response.end('picture');
};
