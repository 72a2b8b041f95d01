import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { hasErrorCode } from '@holdfast/core';
import { handlers } from './api.ts';
import type { ApiParts } from './api.ts';
import type { Asset } from './bundle.ts';
import { bundleClient } from './bundle.ts';
import { HttpError, readJsonBody, sendError } from './http.ts';
import { guardRequest, setSecurityHeaders } from './request-guard.ts';
import { RunInProgressError } from './runs.ts';

/** The page and its API on this machine. */
export interface PlaygroundServer {
  /** The address of the page. */
  readonly url: string;
  /** Accepts no more requests and ends the open ones. */
  close(): Promise<void>;
}

const host = '127.0.0.1';

/** Serves on localhost. @throws Error `EADDRINUSE`, `EACCES` when the port is taken or not allowed. */
export async function startServer(parts: ApiParts, port: number): Promise<PlaygroundServer> {
  const assets = await bundleClient();
  const server = createServer((request, response) => void answer(parts, assets, request, response));
  await listen(server, port);
  const address = server.address();
  const actualPort = typeof address === 'object' ? address?.port : port;
  return {
    url: `http://${host}:${actualPort}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

async function answer(
  parts: ApiParts,
  assets: ReadonlyMap<string, Asset>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  setSecurityHeaders(response);
  try {
    guardRequest(request);
    const path = new URL(request.url ?? '/', `http://${host}`).pathname;
    const asset = assets.get(path);
    if (asset && (request.method === 'GET' || request.method === 'HEAD'))
      return sendAsset(asset, request, response);
    await callHandler(parts, path, request, response);
  } catch (error) {
    const { status, message } = asHttpError(error);
    sendError(response, status, message);
  }
}

async function callHandler(
  parts: ApiParts,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [, , collection, id, ...rest] = path.split('/');
  const pattern = id === undefined ? path : ['', 'api', collection, ':id', ...rest].join('/');
  const handler = Object.hasOwn(handlers, `${request.method} ${pattern}`)
    ? handlers[`${request.method} ${pattern}`]
    : undefined;
  if (!handler) throw new HttpError(404, `Unknown address: ${request.method} ${path}.`);
  const body = request.method === 'POST' ? await readJsonBody(request) : {};
  await handler(parts, { sessionId: decoded(id ?? ''), body, response });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new HttpError(400, 'The address is not well-formed.');
  }
}

function sendAsset(
  { body, contentType, etag }: Asset,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const isKnown = request.headers['if-none-match'] === etag;
  response.writeHead(isKnown ? 304 : 200, { 'content-type': contentType, 'cache-control': 'no-cache', etag });
  response.end(isKnown || request.method === 'HEAD' ? undefined : body);
}

const CONFLICTS = ['SESSION_BUSY', 'SESSION_CONFLICT', 'SESSION_REFUSED'] as const;

function asHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof RunInProgressError) return new HttpError(409, message);
  if (hasErrorCode(error, 'SESSION_NOT_FOUND')) return new HttpError(404, message);
  if (CONFLICTS.some((code) => hasErrorCode(error, code))) return new HttpError(409, message);
  if (hasErrorCode(error, 'ID_INVALID') || hasErrorCode(error, 'CONTEXT_INVALID'))
    return new HttpError(400, message);
  if (hasErrorCode(error, 'STORE_UNAVAILABLE')) return new HttpError(503, message);
  return new HttpError(500, message);
}
