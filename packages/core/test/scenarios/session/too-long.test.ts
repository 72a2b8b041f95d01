import {
  clearHistory,
  createAgentLoop,
  editMessage,
  MemorySessionStore,
  messageCompiler,
  retry,
  sendMessage,
  SessionRuntime,
  summarize,
  tool,
  type AgentLoopOptions,
  type AgentSession,
} from '@holdfast/core';
import { DriverError, type Driver } from '@holdfast/core/driver';
import { scriptedDriver } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';

/** A session whose conversation no model takes any more: what its error advises works. */

const WINDOW = 5_000;
const page = 'word '.repeat(600);

/** Refuses requests above the window, in characters. */
const driver: Driver = {
  async infer({ messages }) {
    const size = JSON.stringify(messages).length;
    if (size > WINDOW)
      throw new DriverError('contextTooLong', `The maximum context length is ${WINDOW} tokens.`);
    return { text: 'Yes.', usage: { inputTokens: size, outputTokens: 1 } };
  },
};

async function stuck() {
  const store = new MemorySessionStore();
  const runtimeOf = (options: Partial<AgentLoopOptions> = {}) =>
    new SessionRuntime({ store, agents: { chat: createAgentLoop({ driver, ...options }) } });
  const runtime = runtimeOf();
  const { sessionId } = await runtime.create({ definition: { name: 'chat' } });
  await runtime.execute(sessionId, sendMessage('Hello.'));
  await runtime.execute(sessionId, sendMessage(page));
  const { state } = await runtime.execute(sessionId, sendMessage(page));
  expect(state).toMatchObject({ status: 'failed', errors: [{ code: 'DRIVER_CONTEXT_TOO_LONG' }] });
  const again = await runtime.execute(sessionId, sendMessage('And now?'));
  expect(again.state.status).toBe('failed');
  return { runtime, runtimeOf, sessionId, state: again.state };
}

type Stuck = Awaited<ReturnType<typeof stuck>>;
const idOf = ({ state }: Stuck, at: number): string => state.messages.at(at)?.id as string;

describe('a session that is too long for its model continues', () => {
  const ways: Readonly<Record<string, (stuck: Stuck) => Promise<AgentSession>>> = {
    async 'clearHistory()'({ runtime, sessionId }) {
      await runtime.execute(sessionId, clearHistory());
      return runtime.execute(sessionId, sendMessage('Hello?'));
    },
    'editMessage()': (found) =>
      found.runtime.execute(found.sessionId, editMessage(idOf(found, 4), 'In short: yes?')),
    async 'a fork() with atMessage'(found) {
      const fork = await found.runtime.fork(found.sessionId, { atMessage: idOf(found, 2) });
      return found.runtime.execute(fork.sessionId, sendMessage('And?'));
    },
    'a compiler': ({ runtimeOf, sessionId }) => {
      const compiler = messageCompiler(({ messages }) => messages.slice(-1));
      return runtimeOf({ compiler }).execute(sessionId, retry());
    },
    async summaries({ runtimeOf, sessionId }) {
      const { hook, compiler } = summarize({
        driver: scriptedDriver('Pages.', 'Two pages.'),
        maxTokens: 1_000_000,
      });
      return runtimeOf({ hooks: [hook], compiler }).execute(sessionId, retry());
    },
  };

  test('and a worker that loads it needs no refusal to know the limit', async () => {
    const store = new MemorySessionStore();
    const sizes: number[] = [];
    const reader: Driver = {
      async infer({ messages }, options) {
        sizes.push(JSON.stringify(messages).length);
        const response = await driver.infer({ messages } as never, options);
        const isAnswer = messages.last?.role === 'tool' && messages.length > 4;
        return isAnswer ? response : { ...response, text: '', content: [part(sizes.length)] };
      },
    };
    const part = (at: number) =>
      ({ type: 'tool-call', toolCallId: `c${at}`, toolName: 'read', input: {} }) as const;
    const read = tool({
      name: 'read',
      description: 'Reads.',
      inputSchema: { type: 'object' },
      execute: () => page,
    });
    const runtimeOf = () =>
      new SessionRuntime({ store, agents: { chat: createAgentLoop({ driver: reader, tools: [read] }) } });
    const { sessionId } = await runtimeOf().create({ definition: { name: 'chat' } });
    const refused = (): number => sizes.filter((size) => size > WINDOW).length;
    const first = await runtimeOf().execute(sessionId, sendMessage('Read.'));
    expect([first.state.status, refused()]).toEqual(['completed', 1]);
    const second = await runtimeOf().execute(sessionId, sendMessage('Read again.'));
    expect([second.state.status, refused()]).toEqual(['completed', 1]);
    expect(second.state.contextLimit).toEqual(first.state.contextLimit);
  });

  test.each(Object.entries(ways))('after %s', async (name, way) => {
    const found = await stuck();
    expect(found.state.errors[0]?.message).toContain(name);
    expect((await way(found)).state.status).toBe('completed');
  });
});
