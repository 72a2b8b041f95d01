import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { InProcessEngine, SessionRuntime, type SessionStore, type SessionDirectory } from '@holdfast/core';
import type { SessionChannel } from '@holdfast/core/channel';
import { sweep } from '@holdfast/core/engine';
import { chatHandler, type ChatLimits } from '@holdfast/ui-ai-sdk/handler';
import { getRequestListener } from '@hono/node-server';
import { countedChannel } from './counted-channel.ts';
import { writer, type WriterParts } from './writer.ts';

/** The parts that all processes of a chat share. */
export interface SharedParts {
  readonly store: SessionStore & SessionDirectory;
  readonly channel: SessionChannel;
}

/** A worker or a web server that runs in this process. */
export interface Running {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

const LEASE_SECONDS = 1;
const SWEEP_MS = 25;

/** Works on all sessions that need it, until `stop`. */
export async function workOnChats({ store, channel }: SharedParts, parts: WriterParts): Promise<Running> {
  const agents = { writer: writer(parts) };
  const runtime = new SessionRuntime({ store, channel, agents, leaseSeconds: LEASE_SECONDS });
  const engine = new InProcessEngine();
  const onError = (error: unknown): void => console.error(error);
  const worker = await engine.serve((id, options) => runtime.advance(id, options), { onError });
  const timer = setInterval(
    () => void sweep(store, engine, { againAfterSeconds: LEASE_SECONDS }).catch(onError),
    SWEEP_MS,
  );
  const stop = async (): Promise<void> => {
    clearInterval(timer);
    await worker.stop();
  };
  return { url: '', stop };
}

interface WebOptions extends SharedParts, WriterParts {
  /** The folder of the pages. */
  readonly pages: string;
  readonly port: number;
  readonly limits: ChatLimits;
}

/** Serves the pages, their chats, and numbers about this process at `/stats`. It runs no agent. */
export async function serveChats({
  store,
  channel,
  pages,
  port,
  limits,
  ...parts
}: WebOptions): Promise<Running> {
  const counted = countedChannel(channel);
  const runtime = new SessionRuntime({ store, channel: counted, agents: { writer: writer(parts) } });
  const engine = { wake: async () => undefined }; // the workers sweep
  const authorize = ({ headers }: Request) => ({ owner: headers.get('x-owner') ?? 'ada' });
  const onError = (error: unknown): void => console.error(error);
  const chats = chatHandler({
    runtime,
    engine,
    channel: counted,
    agent: 'writer',
    authorize,
    mayDecide: () => true,
    limits: { requestsPerMinute: 100_000, readsPerMinute: 100_000, ...limits },
    onError,
  });
  const serve = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith('/api/')) return chats(request);
    if (pathname === '/stats') return Response.json({ ...counted.counts, ...memory() });
    if (/^\/[\w-]+\.js$/.test(pathname)) return script(await readFile(join(pages, pathname)));
    return new Response(pageFor(pathname), { headers: { 'content-type': 'text/html' } });
  };
  const listener = getRequestListener(serve, { overrideGlobalObjects: false });
  const server = createServer((incoming, outgoing) => void listener(incoming, outgoing));
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const stop = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop };
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** The bytes that this process holds, without garbage. */
function memory(): { readonly bytes: number } {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return { bytes: heapUsed + external };
}

function script(text: Buffer): Response {
  return new Response(new Uint8Array(text), { headers: { 'content-type': 'text/javascript' } });
}

/** The page of the transport of Holdfast at `/`, and that of the AI SDK alone at `/stock`. */
function pageFor(pathname: string): string {
  const name = pathname === '/stock' ? 'stock-page' : 'chat-page';
  return `<!doctype html><title>Chat</title><link rel="icon" href="data:,"><div id="root"></div>
<script type="module" src="/${name}.js"></script>`;
}
