import { scriptedDriver } from '@holdfast/core/testing';
import { expect, test } from 'vitest';
import { messageBody, requestOf, send, sessionOf } from '../support/chat-requests.ts';
import { chatWorld } from '../support/chat-world.ts';
import { storeWithReads } from '../support/store-with-reads.ts';

test('a stop counts while a worker takes the message from the inbox', async () => {
  const isCalled = Promise.withResolvers<void>();
  let work: Promise<unknown> | undefined;
  let isStopping = false;
  const store = storeWithReads(async () => {
    if (!isStopping) return;
    isStopping = false;
    work = world.runtime.advance(sessionOf('c1'));
    await isCalled.promise;
  });
  const driver = {
    async infer(_: unknown, { signal }: { readonly signal: AbortSignal }) {
      isCalled.resolve();
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      throw new Error('unreachable');
    },
  };
  const engine = { wake: async () => undefined };
  await using world = await chatWorld({ driver }, { store, handler: { engine } });
  const response = await world.handler(requestOf('POST', '', messageBody('c1', 'm1', 'Hi.')));
  isStopping = true;
  const reply = await send(world.handler, 'POST', '/c1/stop', { body: {} });
  expect(reply).toEqual({ status: 200, json: { isStopping: true } });
  await work;
  await response.body?.cancel();
  expect((await world.runtime.get(sessionOf('c1'))).state.status).toBe('stopped');
});

const READS = [1, 2, 3].flatMap((read) => [['/c1', read] as const, ['/c1/stream?message=m1', read] as const]);

test.each(READS)('GET %s has a message that a worker takes after read %i', async (path, read) => {
  let reads = Infinity;
  const store = storeWithReads(async () => {
    if (--reads === 0) await world.runtime.advance(sessionOf('c1'));
  });
  const engine = { wake: async () => undefined };
  await using world = await chatWorld({ driver: scriptedDriver('Hello.') }, { store, handler: { engine } });
  const response = await world.handler(requestOf('POST', '', messageBody('c1', 'm1', 'Hi.')));
  await response.body?.cancel();
  reads = read;
  const { json } = await send(world.handler, 'GET', path);
  expect(JSON.stringify(json)).toMatch(path === '/c1' ? /Hi\./ : /Hello\./);
});
