import { hasErrorCode } from '@holdfast/core';
import { SessionWatcher } from '@holdfast/core/channel';
import type { ExecutionEngine } from '@holdfast/core/engine';
import { chatHandler } from '@holdfast/ui-ai-sdk/handler';
import { Hono, type Context } from 'hono';
import { secureHeaders } from 'hono/secure-headers';
import { streamSSE } from 'hono/streaming';
import { definition } from '../agent.ts';
import { ASSET_PATHS, type Asset, type AssetPath } from './bundle.ts';
import { OWNER, type Playground } from '../playground.ts';
import { guardRequest } from './request-guard.ts';
import { toSessionSummary } from '../view/session-summary.ts';
import { viewEvents } from './view-stream.ts';

/** The parts that requests use. */
export interface AppParts {
  readonly playground: Playground;
  readonly engine: Pick<ExecutionEngine, 'wake'>;
  /** Returns a file of the page. */
  readonly assetOf: (path: AssetPath) => Promise<Asset | undefined>;
}

/** The largest message, in bytes of its request. */
const MAX_BODY_BYTES = 1_000_000;

/** Returns the app that serves the page, the chats, and the data beside them. */
export function createApp({ playground, engine, assetOf }: AppParts): Hono {
  const { runtime, channel, model, storeName } = playground;
  const watcher = new SessionWatcher({ store: runtime.store, channel });
  const chats = chatHandlerOf(playground, engine);
  const app = new Hono();
  app.use(headers, guardRequest);
  for (const path of ASSET_PATHS) app.get(path, async (context) => sendAsset(context, await assetOf(path)));
  app.all('/api/chat', ({ req }) => chats(req.raw));
  app.all('/api/chat/*', ({ req }) => chats(req.raw));
  app.get('/api/model', (context) =>
    context.json({ label: model.label, isOffline: model.isOffline, store: storeName }),
  );
  app.get('/api/sessions', async (context) => {
    const { sessions } = await runtime.list({ order: 'lastActiveAt', limit: 100 });
    return context.json({ sessions: sessions.map(toSessionSummary) });
  });
  app.get('/api/sessions/:id/raw', async (context) =>
    context.json((await runtime.get(context.req.param('id'))).toJSON() as object),
  );
  app.get('/api/sessions/:id/messages/:message', async (context) => {
    const { state } = await runtime.get(context.req.param('id'));
    const found = state.messages.toArray().find(({ id }) => id === context.req.param('message'));
    return found ? context.json(found as object) : context.notFound();
  });
  app.get('/api/sessions/:id/view', (context) =>
    streamSSE(context, async (stream) => {
      const closing = new AbortController();
      stream.onAbort(() => closing.abort());
      for await (const event of viewEvents(watcher, context.req.param('id'), closing.signal))
        await stream.writeSSE({ data: JSON.stringify(event), retry: 1_000 });
    }),
  );
  app.notFound((context) =>
    context.json(errorBody('NOT_FOUND', `Unknown address: ${context.req.method} ${context.req.path}.`), 404),
  );
  app.onError((error, context) => context.json(errorBody(...describe(error)), statusOf(error)));
  return app;
}

function chatHandlerOf(
  { runtime, channel }: Playground,
  engine: Pick<ExecutionEngine, 'wake'>,
): (request: Request) => Promise<Response> {
  return chatHandler({
    runtime,
    engine,
    channel,
    agent: definition,
    authorize: () => ({ owner: OWNER }),
    mayDecide: () => true, // the one user of this machine
    sessionIdOf: ({ chatId }) => chatId, // there is one owner
    limits: { bodyBytes: MAX_BODY_BYTES },
    describeFailure: ({ errors, stopSignal }) =>
      errors.at(-1)?.message ?? stopSignal?.message ?? 'The run failed.',
  });
}

const headers = secureHeaders({
  contentSecurityPolicy: {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'"],
    connectSrc: ["'self'"],
    imgSrc: ["'self'", 'data:'],
    baseUri: ["'none'"],
    formAction: ["'none'"],
    frameAncestors: ["'none'"],
  },
  strictTransportSecurity: false, // the server has no certificate
});

function sendAsset(context: Context, asset: Asset | undefined): Response | Promise<Response> {
  if (asset === undefined) return context.notFound();
  const { body, contentType, etag } = asset;
  const own = { 'content-type': contentType, 'cache-control': 'no-cache', etag };
  if (context.req.header('if-none-match') === etag) return context.body(null, 304, own);
  return context.body(new Uint8Array(body), 200, own);
}

function errorBody(code: string, message: string): object {
  return { error: { code, message } };
}

function describe(error: Error): [code: string, message: string] {
  return ['code' in error ? String(error.code) : 'FAILED', error.message];
}

function statusOf(error: Error): 400 | 404 | 500 | 503 {
  if (hasErrorCode(error, 'SESSION_NOT_FOUND')) return 404;
  if (hasErrorCode(error, 'ARGUMENT_INVALID')) return 400;
  return hasErrorCode(error, 'STORE_UNAVAILABLE') ? 503 : 500;
}
