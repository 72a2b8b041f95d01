import {
  createAgentLoop,
  MemorySessionStore,
  resume,
  sendMessage,
  SessionRuntime,
  textOf,
  type AgentSession,
} from '@holdfast/core';
import { scriptedDriver, steppedClock } from '@holdfast/core/testing';
import { expect, test } from 'vitest';
import { does, expectPaired, expectSound } from '../../support/builders.ts';

const texts = ({ state }: AgentSession): string[] =>
  state.messages.toArray().map((message) => `${message.role} ${textOf(message)}`.trim());

test.each([
  [0, ['user Go.', 'assistant Other.']],
  [1, ['user Go.', 'assistant', 'tool', 'assistant Other.']],
  [2, ['user Go.', 'assistant', 'tool', 'assistant', 'tool', 'assistant Other.']],
])(
  'a fork after step %i continues from that step, and the original does not change',
  async (atStep, expected) => {
    const script = [{ calls: [['a', {}]] }, { calls: [['a', {}]] }, 'Done.'] as const;
    const store = new MemorySessionStore();
    const runtimeWith = (driver: ReturnType<typeof scriptedDriver>, start: number): SessionRuntime =>
      new SessionRuntime({
        store,
        agents: {
          helper: createAgentLoop({ driver, tools: [does('a', () => 1)], clock: steppedClock(start + 1) }),
        },
        clock: steppedClock(start),
      });
    const runtime = runtimeWith(scriptedDriver(...script), 1_000);
    const { sessionId } = await runtime.create({ definition: { name: 'helper' } });
    const original = await runtime.execute(sessionId, sendMessage('Go.'));
    const fork = await runtime.fork(sessionId, { atStep });
    expect([fork.forkedFrom, fork.state.status, fork.state.agentId === original.state.agentId]).toEqual([
      sessionId,
      'pending',
      false,
    ]);
    const ended = await runtimeWith(scriptedDriver('Other.'), 5_000).execute(fork.sessionId, resume());
    expect(texts(ended)).toEqual(expected);
    expectPaired(expectSound(ended.state).messages);
    expect(await runtime.get(sessionId)).toEqual(original);
    await expect(runtime.fork(sessionId, { atStep: 4 })).rejects.toMatchObject({ code: 'ARGUMENT_INVALID' });
  },
);

test.each([
  [0, ['user Go.'], 'pending', ['user Go.', 'assistant Other.']],
  [1, ['user Go.', 'assistant One.'], undefined, ['user Go.', 'assistant One.']],
  [
    2,
    ['user Go.', 'assistant One.', 'user And?'],
    'pending',
    ['user Go.', 'assistant One.', 'user And?', 'assistant Other.'],
  ],
])(
  'a fork at message %i ends with that message, even from an earlier execution',
  async (index, expected, status, ended) => {
    const store = new MemorySessionStore();
    const runtime = new SessionRuntime({
      store,
      agents: { helper: createAgentLoop({ driver: scriptedDriver('One.', 'Two.', 'Other.') }) },
    });
    const { sessionId } = await runtime.create({ definition: { name: 'helper' } });
    await runtime.execute(sessionId, sendMessage('Go.'));
    const original = await runtime.execute(sessionId, sendMessage('And?'));
    const atMessage = original.state.messages.at(index)?.id ?? '';
    const fork = await runtime.fork(sessionId, { atMessage });
    expect([texts(fork), fork.state.status]).toEqual([expected, status]);
    expect(texts(await runtime.execute(fork.sessionId, resume()))).toEqual(ended);
    for (const wrong of [{ atMessage: 'x' }, { atMessage, atStep: 1 }])
      await expect(runtime.fork(sessionId, wrong)).rejects.toMatchObject({ code: 'ARGUMENT_INVALID' });
  },
);
