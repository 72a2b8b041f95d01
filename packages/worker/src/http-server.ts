import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The answers of a worker over HTTP. */
export interface WorkerPages {
  /** Returns why the worker is not ready, or `undefined`, with further facts. */
  readonly readiness: () => Promise<{ readonly reason?: string | undefined }>;
  /** Returns the metrics in the text format of Prometheus. */
  readonly metrics: () => Promise<string>;
}

/** The HTTP server of a worker. */
export interface WorkerServer {
  readonly port: number;
  close(): void;
}

/** Serves `/health/live`, `/health/ready` and `/metrics`. @throws the error of `listen`, such as `EADDRINUSE`. */
export async function serveHttp(
  pages: WorkerPages,
  { port, host }: { readonly port: number; readonly host: string | undefined },
): Promise<WorkerServer> {
  const server: Server = createServer(({ method = '', url = '' }, response) => {
    respond(pages, method, url.replace(/\?.*/s, ''), response).catch(() => response.writeHead(500).end());
  });
  server.listen({ port, host });
  await once(server, 'listening');
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { port: (server.address() as AddressInfo).port, close };
}

async function respond(
  pages: WorkerPages,
  method: string,
  path: string,
  response: ServerResponse,
): Promise<void> {
  if (method !== 'GET' && method !== 'HEAD') return void response.writeHead(405, { allow: 'GET' }).end();
  if (path === '/health/live') return sendJson(response, 200, { status: 'live' });
  if (path === '/health/ready') {
    const readiness = await pages.readiness();
    const isReady = readiness.reason === undefined;
    return sendJson(response, isReady ? 200 : 503, { status: isReady ? 'ready' : 'not ready', ...readiness });
  }
  if (path === '/metrics') return send(response, 200, METRICS_TYPE, await pages.metrics());
  return sendJson(response, 404, { error: 'Known paths: /health/live, /health/ready, /metrics' });
}

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

function sendJson(response: ServerResponse, status: number, body: object): void {
  send(response, status, 'application/json', `${JSON.stringify(body)}\n`);
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body);
}
