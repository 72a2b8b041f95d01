import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import { clientFiles } from './bundle.ts';
import { createApp, type AppParts } from './routes.ts';

/** The page and its API on this machine. */
export interface PlaygroundServer {
  /** The address of the page. */
  readonly url: string;
  /** Accepts no more requests and ends the open ones. */
  close(): Promise<void>;
}

const host = '127.0.0.1';

/** Serves on localhost. @throws Error `EADDRINUSE`, `EACCES` when the port is taken or not allowed. */
export async function startServer(parts: Omit<AppParts, 'assetOf'>, port: number): Promise<PlaygroundServer> {
  const app = createApp({ ...parts, assetOf: clientFiles() });
  const server = createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false }) as Server;
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
