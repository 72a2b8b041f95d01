import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { isIP, type AddressInfo } from 'node:net';

/** The answers of a worker over HTTP. */
export interface WorkerPages {
  /** Returns why the worker is not ready, or `undefined`, with further facts. */
  readonly readiness: () => Promise<{ readonly reason?: string | undefined }>;
  /** Returns the metrics in the text format of Prometheus. */
  readonly metrics: () => Promise<string>;
}

/** Where the server listens, and the names by which its clients call it. */
export interface ServedAt {
  readonly port: number;
  /** Default: this machine only. */
  readonly host?: string | undefined;
  readonly allowedHosts?: readonly string[] | undefined;
}

/** The HTTP server of a worker. */
export interface WorkerServer {
  readonly port: number;
  close(): void;
}

/** Serves `/health/live`, `/health/ready` and `/metrics`. @throws the error of `listen`, such as `EADDRINUSE`. */
export async function serveHttp(
  pages: WorkerPages,
  { port, host = '127.0.0.1', allowedHosts = [] }: ServedAt,
): Promise<WorkerServer> {
  const names = new Set(['localhost', host, ...allowedHosts].map((name) => name.toLowerCase()));
  const server: Server = createServer(({ method = '', url = '', headers }, response) => {
    if (!isKnownHost(headers.host, names)) return sendJson(response, 421, { error: UNKNOWN_HOST });
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

const UNKNOWN_HOST = 'The worker does not know the host name of the request. Pass it in allowedHosts.';

/**
 * True for an address, and for a known name. The page of another site can give its own name the address of this server (DNS
 * rebinding), and its requests then have that name.
 */
function isKnownHost(header: string | undefined, names: ReadonlySet<string>): boolean {
  if (header === undefined) return true; // no browser sends such a request
  const host = header.replace(/:\d*$/u, '').toLowerCase();
  return names.has(host) || isIP(host.replace(/^\[|\]$/gu, '')) !== 0;
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
