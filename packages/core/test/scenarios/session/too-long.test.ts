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

  test.each(Object.entries(ways))('after %s', async (name, way) => {
    const found = await stuck();
    expect(found.state.errors[0]?.message).toContain(name);
    expect((await way(found)).state.status).toBe('completed');
  });
});
