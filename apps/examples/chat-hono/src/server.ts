import { serve } from '@hono/node-server';
import { serveStatic } from '@hono/node-server/serve-static';
import { chatHandler } from '@holdfast/ui-ai-sdk/handler';
import { mayDecide } from 'chat-shared/agent';
import { Hono } from 'hono';
import { channel, runtime } from './runtime.ts';

const isApart = process.env['WORKERS'] === 'apart';
const engine = isApart ? { wake: async () => undefined } : (await import('./worker.ts')).engine;
/** A real application reads the owner from its session cookie. */
const authorize = () => ({ owner: 'me' });
const chats = chatHandler({ runtime, engine, channel, agent: 'clerk', authorize, mayDecide });

const page = `<!doctype html><title>Chat</title><link rel="icon" href="data:,">
<script type="module" src="/page.js"></script>`;
const app = new Hono()
  .all('/api/chat/*', ({ req }) => chats(req.raw))
  .get('/', (context) => context.html(page))
  .use(serveStatic({ root: 'dist' }));
const address = { hostname: 'localhost', port: Number(process.env['PORT'] ?? 3000) };
serve({ fetch: app.fetch, ...address }, ({ port }) => console.log(`Chat: http://localhost:${port}/`));
