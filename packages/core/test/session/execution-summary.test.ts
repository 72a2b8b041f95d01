import {
  createAgentLoop,
  MemorySessionStore,
  sendMessage,
  SessionRuntime,
  type AgentState,
} from '@holdfast/core';
import type { ExecutionSummary } from '@holdfast/core/store';
import { scriptedDriver, steppedClock } from '@holdfast/core/testing';
import { expect, test } from 'vitest';
import { DocumentReader } from '../../src/document.ts';
import { executionSummary, readExecutionSummary } from '../../src/session/execution-summary.ts';
import { call, does, scriptedLoop, told } from '../support/builders.ts';

const idsOf = ({ messages }: AgentState): string[] => messages.toArray().map(({ id }) => id);

/** The summary, which is the same after it was stored. */
function summaryOf(state: AgentState): ExecutionSummary | undefined {
  const summary = executionSummary(state);
  if (summary === undefined) return undefined;
  expect(Object.isFrozen(summary)).toBe(true);
  expect(DocumentReader.read(JSON.parse(JSON.stringify(summary)), readExecutionSummary)).toEqual(summary);
  return summary;
}

test('a state without an execution has no summary', () => {
  expect(summaryOf(told())).toBeUndefined();
});

test('a summary has what an execution used, and its first and last message', async () => {
  const usage = { inputTokens: 100, outputTokens: 20 };
  const driver = scriptedDriver(call('look'), { text: 'Done.', usage });
  const prices = { m: { input: 1, output: 10 } };
  const loop = createAgentLoop({ driver, prices, tools: [does('look')], clock: steppedClock(1_000) });
  const state = await loop.run(told().withLlmConfig({ model: 'm' }));
  const { execution } = state;
  const ids = idsOf(state);
  expect(ids).toHaveLength(4);
  expect(summaryOf(state)).toEqual({
    executionId: execution?.executionId,
    status: 'completed',
    startedAt: execution?.startedAt,
    completedAt: execution?.completedAt,
    steps: 2,
    seconds: execution?.workedSeconds,
    usage: { inputTokens: 110, outputTokens: 25, cost: expect.closeTo(0.00036, 9) as number },
    firstMessageId: ids[0],
    lastMessageId: ids[3],
  });
});

test('the messages of earlier executions do not count, with and without tags', async () => {
  const loop = scriptedLoop(['One.', 'Two.']);
  const first = await loop.run(told());
  const second = await loop.run(first.withUserMessage('Again.'));
  const [, , from, to] = idsOf(second);
  expect(summaryOf(second)).toMatchObject({ firstMessageId: from, lastMessageId: to });

  const store = new MemorySessionStore();
  const agents = { helper: createAgentLoop({ driver: scriptedDriver('One.', 'Two.') }) };
  const runtime = new SessionRuntime({ store, agents });
  const { sessionId } = await runtime.create({ definition: { name: 'helper' } });
  await runtime.execute(sessionId, sendMessage('Hello', { id: 'm1' }));
  const { state } = await runtime.execute(sessionId, sendMessage('Again', { id: 'm2' }));
  expect(summaryOf(state)).toMatchObject({ firstMessageId: 'm2', lastMessageId: idsOf(state).at(-1) });
  const { executions } = await runtime.executions(sessionId);
  expect(executions.map(({ firstMessageId }) => firstMessageId)).toEqual(['m2', 'm1']);
});

test('an execution without a response has the message that it was to respond to', async () => {
  const agents = { helper: createAgentLoop({ driver: scriptedDriver() }) };
  const runtime = new SessionRuntime({ store: new MemorySessionStore(), agents });
  const { sessionId } = await runtime.create({ definition: { name: 'helper' }, budget: { deadline: 1 } });
  for (const id of ['m1', 'm2']) await runtime.execute(sessionId, sendMessage('Hello', { id }));
  const { executions } = await runtime.executions(sessionId);
  expect(executions.map(({ firstMessageId, lastMessageId }) => [firstMessageId, lastMessageId])).toEqual([
    ['m2', 'm2'],
    ['m1', 'm1'],
  ]);
});

test('an unfinished execution has no end, and messages that are gone are not named', async () => {
  const started = told().withExecutionStarted(5_000);
  const summary = summaryOf(started);
  expect(summary).toMatchObject({ status: 'inProgress', startedAt: 5_000, steps: 0, seconds: 0, usage: {} });
  expect(Object.keys(summary ?? {})).not.toContain('completedAt');
  expect(Object.keys(summary ?? {})).not.toContain('stopReason');
  const stopped = await scriptedLoop([call('look'), 'Done.'], {
    tools: [does('look')],
    budget: { maxSteps: 1 },
  }).run(told());
  expect(summaryOf(stopped)).toMatchObject({ status: 'stopped', stopReason: 'stepsLimitReached' });
  const state = await scriptedLoop(['One.']).run(told());
  const cleared = state.withMessages([], state.updatedAt);
  expect(Object.keys(summaryOf(cleared) ?? {})).not.toContain('firstMessageId');
});

test('the cost of a summary does not grow with the executions before', async () => {
  const loop = scriptedLoop(Array.from({ length: 30 }, () => 'Done.'));
  let state = await loop.run(told());
  for (let count = 1; count < 30; count++) state = await loop.run(state.withUserMessage('Again.'));
  const seen: number[] = [];
  const messages = new Proxy(state.messages, {
    get: (list, name) =>
      name === 'at' ? (index: number) => (seen.push(index), list.at(index)) : Reflect.get(list, name, list),
  });
  executionSummary(Object.create(state, { messages: { value: messages } }) as AgentState);
  expect(state.messages).toHaveLength(60);
  expect(seen).toEqual([59, 58, 57]);
});
