import { describe, expect, test } from 'vitest';
import {
  AgentState,
  AgentStep,
  createAgentLoop,
  ExecutionBudget,
  ToolExecution,
  Usage,
} from '@holdfast/core';
import { InferenceResponse } from '@holdfast/core/driver';
import type { CallUsage } from '@holdfast/core/engine';
import { steppedClock } from '@holdfast/core/testing';
import { expectRoundTrip, START as T } from '../../support/arbitraries.ts';

const MOST = Number.MAX_SAFE_INTEGER;
const odd = [-1, Number.NaN, Infinity, -Infinity, 1e300, 2 ** 53, 0.5];
const odder = [-1, Number.NaN, Infinity, -Infinity];
const begun = AgentState.empty({ at: T }).withExecutionStatus('inProgress', T);

/** The state with this in the place of the member of its document. */
function withMember(state: AgentState, name: string, value: unknown): AgentState {
  const [outer, inner] = name.split('.') as [string, string | undefined];
  const document = JSON.parse(JSON.stringify(state)) as Record<string, Record<string, unknown>>;
  if (inner === undefined) Object.assign(document, { [outer]: value });
  else Object.assign(document[outer] as object, { [inner]: value });
  return AgentState.fromJSON(document);
}

describe('an invalid amount is refused', () => {
  test.for(odd)('%d tokens', (tokens) => {
    for (const name of [
      'inputTokens',
      'outputTokens',
      'cacheReadTokens',
      'cacheWriteTokens',
      'reasoningTokens',
    ])
      expect(() => Usage.of({ [name]: tokens })).toThrow(
        expect.objectContaining({ code: 'CONTEXT_INVALID' }),
      );
  });
  test.for(odder)('%d dollars', (cost) => {
    for (const act of [() => Usage.of({ cost }), () => Usage.none.withCost(cost)])
      expect(act).toThrow(expect.objectContaining({ code: 'CONTEXT_INVALID' }));
  });
  test.for([Number.NaN, Infinity, -Infinity, '5', null])('%s seconds worked', (seconds) => {
    const refused = expect.objectContaining({ code: 'ARGUMENT_INVALID' });
    expect(() => begun.withTimeWorked(seconds as number, T)).toThrow(refused);
    expect(() => begun.execution?.withStepCompleted(AgentStep.create(), T, seconds as number)).toThrow(
      refused,
    );
  });
  test.for([-1, Number.NaN, -Infinity, '5', null])('%s of a budget', (amount) => {
    const budget = ExecutionBudget.of({ maxSteps: 1, maxTokens: 1, maxSeconds: 1, maxCost: 1 });
    for (const name of ['steps', 'tokens', 'seconds', 'cost']) {
      expect(() => budget.remaining({ [name]: amount })).toThrow(
        expect.objectContaining({
          code: 'ARGUMENT_INVALID',
          message: expect.stringContaining(name) as string,
        }),
      );
    }
  });
});

test('negative time worked counts as 0, because a clock can go back', () => {
  expect(begun.withTimeWorked(-1, T)).toBe(begun);
  expect(begun.execution?.withStepCompleted(AgentStep.create(), T, -1).workedSeconds).toBe(0);
});

describe('a sum stops at the largest number that can be read back', () => {
  const much = Usage.of({ inputTokens: MOST, outputTokens: MOST, cost: Number.MAX_VALUE });
  test('a sum of usage in steps, in tools and outside them', () => {
    const call = { type: 'tool-call', toolCallId: 'a', toolName: 'add', input: {} } as const;
    const tool = ToolExecution.start(call, T).withUsage(much).withUsage(much);
    const step = AgentStep.create()
      .withResponse(InferenceResponse.of({ content: [call], usage: much }))
      .withToolExecution(tool);
    const state = begun.withOtherUsage(much, T).withOtherUsage(much, T).withCurrentStep(step, T);
    for (const one of [state, state.withCurrentStepCompleted(T)]) {
      const { inputTokens, outputTokens, cost, totalTokens } = expectRoundTrip(one).usage;
      expect([inputTokens, outputTokens, cost, totalTokens]).toEqual([MOST, MOST, Number.MAX_VALUE, MOST]);
    }
    const calls = Usage.fromJSON({ unreportedCalls: MOST, unpricedCalls: MOST }).plus(Usage.unreported);
    expect(calls.toJSON()).toEqual({ unreportedCalls: MOST, unpricedCalls: MOST });
  });
  test('a sum of time worked', () => {
    const state = begun.withTimeWorked(Number.MAX_VALUE, T);
    expect(expectRoundTrip(state.withTimeWorked(Number.MAX_VALUE, T)).execution?.workedSeconds).toBe(
      Number.MAX_VALUE,
    );
    const execution = state.execution?.withStepCompleted(AgentStep.create(), T, Number.MAX_VALUE);
    expect(execution?.workedSeconds).toBe(Number.MAX_VALUE);
  });
  test('a count of executions and of attempts', () => {
    const state = withMember(AgentState.empty({ at: T }), 'executionCount', MOST);
    expect(expectRoundTrip(state.withExecutionStatus('inProgress', T)).executionCount).toBe(MOST);
    const call = { type: 'tool-call', toolCallId: 'a', toolName: 'add', input: {} } as const;
    const tool = ToolExecution.fromJSON({ ...ToolExecution.create(call).toJSON(), attempt: MOST });
    expect(tool.withNextAttempt(T).attempt).toBe(MOST);
  });
});

test('a limit is stored in a form that can be read back', () => {
  const budget = ExecutionBudget.of({ maxSteps: -0, deadline: 1.5 });
  expect(budget.toJSON()).toEqual({ maxSteps: 0, deadline: 1 });
  expect(Object.is(budget.maxSteps, 0)).toBe(true);
  expect(ExecutionBudget.fromJSON({ deadline: -5 }).isExhausted(T)).toBe(true);
  expect(() => ExecutionBudget.of({ deadline: 1e300 })).toThrow(
    expect.objectContaining({ code: 'ARGUMENT_INVALID' }),
  );
  expect(ExecutionBudget.of({ deadline: Infinity })).toBe(ExecutionBudget.of({}));
});

describe('invalid numbers of a provider', () => {
  const said = { inputTokens: 3, outputTokens: 4, cost: 1 };
  test.for(odd)('%d tokens count as not reported', (inputTokens) => {
    const { usage } = InferenceResponse.of({ text: 'a', usage: { ...said, inputTokens } });
    expect(usage.toJSON()).toEqual({ outputTokens: 4, cost: 1, unreportedCalls: 1 });
  });
  test.for(odder)('%d dollars count as not reported', (cost) => {
    const { usage } = InferenceResponse.of({ text: 'a', usage: { ...said, cost } });
    expect(usage.toJSON()).toEqual({ inputTokens: 3, outputTokens: 4, unpricedCalls: 1 });
  });
  test('valid numbers do not change', () => {
    const { usage } = InferenceResponse.of({ text: 'a', usage: { ...said, reasoningTokens: -0, cost: 0.5 } });
    expect(usage.toJSON()).toEqual({ ...said, reasoningTokens: 0, cost: 0.5 });
  });
  test.for<unknown>([5, 'x', null, { tokens: 1 }, { inputTokens: '5' }])(
    '%j is not usage: the response is refused',
    (usage) => {
      expect(() => InferenceResponse.of({ text: 'a', usage: usage as CallUsage })).toThrow(
        expect.objectContaining({ code: 'INFERENCE_INVALID' }),
      );
    },
  );
  test.for(odd)('%d tokens do not fail a run', async (tokens) => {
    const usage = { inputTokens: tokens, outputTokens: tokens, cost: -1 };
    const driver = { infer: async () => ({ text: 'Done.', usage }) };
    const loop = createAgentLoop({ driver, budget: { maxTokens: 10 }, clock: steppedClock(T) });
    const state = expectRoundTrip(await loop.run(AgentState.empty({ at: T }).withUserMessage('Go', {}, T)));
    expect([state.status, state.finalResponse, state.usage.unreportedCalls]).toEqual([
      'completed',
      'Done.',
      1,
    ]);
  });
});
