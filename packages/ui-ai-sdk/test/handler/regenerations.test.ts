import { MemorySessionStore, SessionRuntime, createAgentLoop } from '@holdfast/core';
import type { Driver } from '@holdfast/core/driver';
import { MemorySessionChannel } from '@holdfast/core/channel';
import { chatHandler } from '@holdfast/ui-ai-sdk/handler';
import { expect, test } from 'vitest';
import { messageBody, requestOf, send, sessionOf } from '../support/chat-requests.ts';
import { chatWorld, OWNER } from '../support/chat-world.ts';
import { storeWithReads } from '../support/store-with-reads.ts';

test.each([1, 2])(
  'of two regenerations at once, the later one follows the other, also after its read %i',
  async (read) => {
    const [isAsked, isRead] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const mayAnswer = Promise.withResolvers<void>();
    let calls = 0;
    const driver: Driver = {
      async infer(_, { signal }) {
        if (calls++ === 1) {
          isAsked.resolve();
          await mayAnswer.promise;
        }
        signal.throwIfAborted();
        return { content: [{ type: 'text', text: `Answer ${calls}.` }] };
      },
    };
    const [memory, channel] = [new MemorySessionStore(), new MemorySessionChannel()];
    await using world = await chatWorld({ driver }, { store: memory, channel });
    await send(world.handler, 'POST', '', { body: messageBody('c1', 'm1', 'How?') });
    const { state: before } = await world.runtime.get(sessionOf('c1'));

    // Another web process. It reads the session before the first regeneration, and continues while that one is at work.
    let reads = 0;
    const store = storeWithReads(async () => {
      if (++reads !== read) return;
      isRead.resolve();
      await isAsked.promise;
    }, memory);
    const runtime = new SessionRuntime({ store, channel, agents: { guide: createAgentLoop({ driver }) } });
    const authorize = () => ({ owner: OWNER });
    const engine = { wake: async () => undefined };
    const other = chatHandler({ runtime, engine, channel, agent: 'guide', authorize });

    const body = { id: 'c1', trigger: 'regenerate-message', replaces: before.executionId };
    const post = (handler: typeof other) => handler(requestOf('POST', '', body));
    const late = post(other);
    await Promise.race([isRead.promise, late]);
    const early = post(world.handler);
    const responses = await Promise.all([early, late]); // both before the answer
    mayAnswer.resolve();
    for (const response of responses) expect(await response.text()).toContain('Answer 2.');
    const { state } = await world.runtime.get(sessionOf('c1'));
    expect([calls, state.status, state.messages.length]).toEqual([2, 'completed', 2]);
  },
);

test('a regeneration that continues after the end of another one follows it', async () => {
  let calls = 0;
  const driver: Driver = { infer: async () => ({ content: [{ type: 'text', text: `Answer ${++calls}.` }] }) };
  const [memory, channel] = [new MemorySessionStore(), new MemorySessionChannel()];
  await using world = await chatWorld({ driver }, { store: memory, channel });
  await send(world.handler, 'POST', '', { body: messageBody('c1', 'm1', 'How?') });
  const { state: before } = await world.runtime.get(sessionOf('c1'));
  const body = { id: 'c1', trigger: 'regenerate-message', replaces: before.executionId };

  // Another web process. Its second read is the last one before it claims the session.
  let reads = 0;
  const store = storeWithReads(async () => {
    if (++reads === 2) await send(world.handler, 'POST', '', { body });
  }, memory);
  const runtime = new SessionRuntime({ store, channel, agents: { guide: createAgentLoop({ driver }) } });
  const authorize = () => ({ owner: OWNER });
  const engine = { wake: async () => undefined };
  const other = chatHandler({ runtime, engine, channel, agent: 'guide', authorize });

  const response = await other(requestOf('POST', '', body));
  expect(await response.text()).toContain('Answer 2.');
  const { state } = await world.runtime.get(sessionOf('c1'));
  expect([calls, state.status, state.messages.length]).toEqual([2, 'completed', 2]);
});
