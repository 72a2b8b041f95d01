import { createAgentLoop, MemorySessionStore, sendMessage, SessionRuntime, tool } from '@holdfast/core';
import { MemorySessionChannel, SessionWatcher } from '@holdfast/core/channel';
import type { Driver } from '@holdfast/core/driver';
import { toUIMessages } from '@holdfast/ui-ai-sdk';
import { expect, test } from 'vitest';
import { Page } from '../support/page.ts';

const words = ['Let ', 'me ', 'add ', 'that.'];

/** A model that writes its next word when the page has shown the one before. */
function slowDriver(isSeen: (text: string) => Promise<void>): Driver {
  let calls = 0;
  return {
    async infer(_, { onDelta }) {
      const isFirst = calls++ === 0;
      let written = '';
      for (const text of words) {
        onDelta?.({ type: 'text', id: 'text', text });
        written += text;
        await isSeen(`${calls}: ${written}`);
      }
      const call = { type: 'tool-call', toolCallId: 'c', toolName: 'add', input: { a: 2 } } as const;
      return { content: [{ type: 'text', text: written }, ...(isFirst ? [call] : [])] };
    },
  };
}

test('a page follows the live views of a session, word by word', async () => {
  const seen = new Map<string, PromiseWithResolvers<void>>();
  const sight = (text: string): PromiseWithResolvers<void> => {
    const known = seen.get(text) ?? Promise.withResolvers<void>();
    seen.set(text, known);
    return known;
  };
  const add = tool({ name: 'add', description: 'Adds.', inputSchema: { type: 'object' }, execute: () => 4 });
  const driver = slowDriver((text) => sight(text).promise);
  const [store, channel] = [new MemorySessionStore(), new MemorySessionChannel()];
  const runtime = new SessionRuntime({
    store,
    channel,
    agents: { a: createAgentLoop({ driver, tools: [add] }) },
  });
  const { sessionId } = await runtime.create({ definition: { name: 'a' } });
  const work = runtime.execute(sessionId, sendMessage('2 + 2?', { id: 'u1' }));

  const page = new Page();
  const watcher = new SessionWatcher({ store, channel: channel.connect() });
  for await (const { session, partial, isSaved } of watcher.watch(sessionId)) {
    const { state } = session;
    const wanted = toUIMessages(state, { partial }).find(({ id }) => id === state.executionId);
    if (wanted) await page.show(wanted);
    for (const part of partial?.parts ?? []) sight(`${state.stepCount}: ${part.text}`).resolve();
    if (isSaved && state.status === 'completed') break;
  }
  await page.reconnect();

  const { state } = await work;
  expect(page.had).toEqual(page.expected);
  expect(page.restarts).toBe(0);
  expect(page.shown).toEqual(toUIMessages(state).at(-1));
});
