import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { scriptedDriver } from '@holdfast/core/testing';
import { HoldfastChatTransport } from '@holdfast/ui-ai-sdk/transport';
import express, { type Express, type RequestHandler } from 'express';
import { describe, expect, test } from 'vitest';
import { messageBody } from '../../support/chat-requests.ts';
import { chatWorld } from '../../support/chat-world.ts';
import { TestChat } from '../../support/test-chat.ts';

/** Serves an app of Express, or a plain listener, at a free port. */
async function serving(app: RequestListener | Express): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

type Mount = (app: Express, listener: RequestHandler) => unknown;

function listenerOf(handler: (request: Request, connection?: unknown) => Promise<Response>): RequestHandler {
  const listener = getRequestListener(handler, { overrideGlobalObjects: false });
  return (incoming, outgoing) => void listener(incoming, outgoing);
}

/** Sends a message in a page, loads the chat, stops it and deletes it. */
async function useChat(api: string): Promise<unknown> {
  const transport = new HoldfastChatTransport({ api });
  const chat = new TestChat({ id: 'c1', transport });
  await chat.sendMessage({ text: 'Hi?' });
  const { messages } = await transport.load('c1');
  const isStopping = await transport.stop('c1');
  return [
    chat.error,
    chat.lastMessage?.parts.at(-1),
    messages.length,
    isStopping,
    await transport.delete('c1'),
  ];
}

const used = [undefined, expect.objectContaining({ text: 'Hello.' }) as object, 2, false, true];

describe('the chat works in Express', () => {
  test.each<[string, string, Mount]>([
    ['app.use(path, listener)', '/api/chat', (app, listener) => app.use('/api/chat', listener)],
    ['app.use(path/, listener)', '/api/chat', (app, listener) => app.use('/api/chat/', listener)],
    ['app.use(another path, listener)', '/talk', (app, listener) => app.use('/talk', listener)],
    ['app.use(a part of the path, listener)', '/api/chat', (app, listener) => app.use('/api', listener)],
    ['app.use(listener)', '/api/chat', (app, listener) => app.use(listener)],
    ['app.all(pattern, listener)', '/api/chat', (app, listener) => app.all('/api/chat{/*rest}', listener)],
    [
      'routers in routers',
      '/v1/api/chat',
      (app, listener) =>
        app.use('/v1', express.Router().use('/api', express.Router().use('/chat', listener))),
    ],
    ['a JSON parser', '/api/chat', (app, listener) => app.use(express.json()).use('/api/chat', listener)],
    [
      'a text parser',
      '/api/chat',
      (app, listener) => app.use(express.text({ type: '*/*' })).use('/api/chat', listener),
    ],
    [
      'a raw parser',
      '/api/chat',
      (app, listener) => app.use(express.raw({ type: '*/*' })).use('/api/chat', listener),
    ],
  ])('with %s', async (_, api, mount) => {
    await using world = await chatWorld({ driver: scriptedDriver('Hello.') });
    const app = express();
    mount(app, listenerOf(world.handler));
    await using server = await serving(app);
    expect(await useChat(`${server.url}${api}`)).toEqual(used);
  });
});

test('a body that a function has read and dropped is refused in words', async () => {
  await using world = await chatWorld({ driver: scriptedDriver() });
  const app = express();
  app.use((request, _, next) => request.resume().once('end', next));
  app.use('/api/chat', listenerOf(world.handler));
  await using server = await serving(app);
  const body = JSON.stringify(messageBody('c1', 'm1', 'Hi.'));
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${server.url}/api/chat`, { method: 'POST', headers, body });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { code: 'CHAT_REQUEST_INVALID' } });
});

test('a body that a parser has read has the same limit', async () => {
  await using world = await chatWorld(
    { driver: scriptedDriver() },
    { handler: { limits: { bodyBytes: 100 } } },
  );
  const app = express();
  app.use(express.json()).use('/api/chat', listenerOf(world.handler));
  await using server = await serving(app);
  const body = JSON.stringify(messageBody('c1', 'm1', 'x'.repeat(100)));
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${server.url}/api/chat`, { method: 'POST', headers, body });
  expect(response.status).toBe(413);
});

test('a plain server takes a slash at the end, and no other path', async () => {
  await using world = await chatWorld({ driver: scriptedDriver('Hello.') });
  const listener = getRequestListener(world.handler, { overrideGlobalObjects: false });
  const plain: RequestListener = (incoming, outgoing) => void listener(incoming, outgoing);
  await using server = await serving(plain);
  const statusOf = async (path: string) => (await fetch(`${server.url}${path}`)).status;
  expect(await useChat(`${server.url}/api/chat`)).toEqual(used);
  expect(await Promise.all(['/api/chat/c1/', '/api/chats', '/c1'].map(statusOf))).toEqual([200, 404, 404]);
});
