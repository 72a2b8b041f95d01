import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { app } from '../../src/repository.ts';

export const dist = join(app, 'dist');

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
};

/** Builds the site, unless it was built from the same sources before. Turborepo does so before it runs the tests as a task. */
export function buildSite(): void {
  if (process.env['TURBO_HASH'] !== undefined) return;
  const { status, stdout, stderr } = spawnSync('pnpm', ['docs:build'], {
    cwd: join(app, '../..'),
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`pnpm docs:build failed:\n${stdout}\n${stderr}`);
}

/** Serves the files of the built site, as any web server can. */
export async function serveSite(): Promise<Server> {
  const server = createServer(({ url = '/' }, response) => void answer(url, response));
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return server;
}

async function answer(url: string, response: ServerResponse): Promise<void> {
  const path = decodeURI(new URL(url, 'http://site').pathname).replace(/\/$/, '/index.html');
  const content = await readFile(join(dist, path)).catch(() => undefined);
  response.writeHead(content ? 200 : 404, { 'content-type': TYPES[extname(path)] ?? 'text/plain' });
  response.end(content);
}

export const originOf = (server: Server): string =>
  `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
