import {
  AgentStop,
  createAgentLoop,
  ToolExecution,
  type AgentEvent,
  type AgentState,
  type JsonValue,
  type ToolCallPart,
} from '@holdfast/core';
import { InferenceResponse } from '@holdfast/core/driver';
import { applyOutcome, ExecutionId, StepId, type StepperOutcome } from '@holdfast/core/engine';
import { scriptedDriver, steppedClock } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import {
  call,
  cameTo,
  deferred,
  does,
  expectSound,
  recorder,
  told,
  type Scenario,
} from '../../support/builders.ts';

/** Tools of which each ends when the one after it has. */
function reversed(): NonNullable<Scenario['tools']> {
  const ended = { b: deferred(), c: deferred() };
  return [
    does('a', () => ended.b.promise.then(() => 'a')),
    does('b', () => ended.c.promise.then(() => (ended.b.resolve(), 'b'))),
    does('c', () => (ended.c.resolve(), 'c')),
  ];
}

const failing = does('fails', () => {
  throw new Error('no luck');
});
const stopping = does('stops', () => {
  throw new AgentStop('enough');
});

const scenarios: Readonly<Record<string, () => Scenario>> = {
  'a final response': () => ({ script: ['Hi.'] }),
  'one tool': () => ({ script: [call('a'), 'Hi.'], tools: [does('a')] }),
  'three tools': () => ({ script: [call('a', 'b', 'c'), 'Hi.'], tools: ['a', 'b', 'c'].map((a) => does(a)) }),
  'tools that end in reverse': () => ({ script: [call('a', 'b', 'c'), 'Hi.'], tools: reversed() }),
  'more calls than may run at once': () => ({
    script: [call('a', 'a', 'a', 'a', 'a'), 'Hi.'],
    tools: [does('a')],
    maxParallelTools: 2,
  }),
  'a tool that fails': () => ({ script: [call('a', 'fails', 'a'), 'Hi.'], tools: [does('a'), failing] }),
  'a tool that must not fail': () => ({
    script: [call('a', 'fails', 'a')],
    tools: [does('a'), failing],
    toolErrors: 'fail',
  }),
  'a tool that stops the run': () => ({ script: [call('a', 'stops', 'a')], tools: [does('a'), stopping] }),
  'a driver that throws': () => ({ script: [call('a'), new Error('down')], tools: [does('a')] }),
};

async function seen(scenario: Scenario, isWatched: boolean): Promise<readonly [object, readonly string[]]> {
  const { script = [], ...options } = scenario;
  const events: AgentEvent[] = [];
  const loop = createAgentLoop({
    clock: steppedClock(1_000),
    driver: scriptedDriver(...script),
    ...options,
    hooks: isWatched ? [recorder(() => undefined)] : [],
    listeners: [(event) => void events.push(event)],
  });
  const state = await loop.run(told(), isWatched ? { checkpoint: { save: async (kept) => kept } } : {});
  for (const event of events) expectSound(event.state);
  // What ends first depends on what is waited for: the events are the same, not their order.
  return [cameTo(expectSound(state)), events.map(({ type }) => type).toSorted()];
}

test.each(Object.entries(scenarios))(
  '%s: the result is the same with and without hooks and checkpoints',
  async (_, scenario) => {
    const [plain, watched] = [await seen(scenario(), false), await seen(scenario(), true)];
    expect(plain).toEqual(watched);
  },
);

test('calls that start in one tick are one change of the state', async () => {
  const started: number[] = [];
  const running = (state: AgentState): number =>
    state.currentStep?.toolExecutions.filter(({ isRunning }) => isRunning).length ?? 0;
  const tools = ['a', 'b', 'c'].map((name) =>
    does(name, (_, { state }) => void started.push(running(state))),
  );
  const driver = scriptedDriver(call('a', 'b', 'c'), 'Hi.');
  await createAgentLoop({ driver, tools }).run(told());
  expect(started).toEqual([3, 3, 3]);
});

describe('several tool executions as one outcome', () => {
  const clock = steppedClock(1_000);
  const calls = ['1', '2', '3'].map((toolCallId): ToolCallPart => ({
    type: 'tool-call',
    toolCallId,
    toolName: 'a',
    input: {},
  }));
  const outcomes: readonly StepperOutcome[] = [
    { type: 'started', executionId: ExecutionId.create(clock), at: 1_000 },
    { type: 'stepBegun', stepId: StepId.create(clock), input: told().messages, at: 1_001 },
    { type: 'inferred', response: InferenceResponse.of({ content: calls }), at: 1_002 },
  ];
  const asked = outcomes.reduce((state, outcome) => applyOutcome(state, outcome), told());
  const running = calls.map((made) => ToolExecution.start(made, 1_003));
  const at = (indexes: readonly number[]): ToolExecution[] =>
    indexes.map((index) => running[index] as ToolExecution);
  const take = (state: AgentState, toolExecutions: readonly ToolExecution[]): AgentState =>
    expectSound(applyOutcome(state, { type: 'toolsAdvanced', toolExecutions, at: 1_004 }));
  const idsIn = (state: AgentState): readonly (JsonValue | undefined)[] =>
    state.currentStep?.toolExecutions.map(({ call: { toolCallId } }) => toolCallId) ?? [];

  test.each([[[0, 1, 2]], [[2, 1, 0]], [[1, 0, 2]]])('in any order, %j: the order of the calls', (order) => {
    expect(idsIn(take(asked, at(order)))).toEqual(['1', '2', '3']);
    const oneByOne = at(order).reduce((state, execution) => take(state, [execution]), asked);
    expect(take(asked, at(order))).toEqual(oneByOne);
  });

  test('a later call before an earlier one: the order of the calls', () => {
    expect(idsIn(take(asked, at([2, 1])))).toEqual(['2', '3']);
    expect(idsIn(take(take(asked, at([2])), at([1])))).toEqual(['2', '3']);
  });

  test('some new ones, and some that replace those with their ids', () => {
    const first = take(asked, at([2]));
    const ended = at([2]).map((execution) => execution.withOutcome({ type: 'succeeded', value: 1 }, 1_005));
    const all = take(first, [...ended, ...at([0])]);
    expect(idsIn(all)).toEqual(['1', '3']);
    expect(all.currentStep?.pendingToolCalls.map(({ toolCallId }) => toolCallId)).toEqual(['2']);
    expect(all.currentStep?.toolExecutions[1]?.value).toBe(1);
    expect(take(all, ended)).toBe(all);
  });

  test('two executions of one call are refused', () => {
    const again = ToolExecution.start(calls[0] as ToolCallPart, 1_003);
    for (const put of [
      [...at([0]), again],
      [again, ...at([1])],
    ]) {
      const state = put.length === 2 && put[1] === again ? asked : take(asked, at([0]));
      expect(() => take(state, put)).toThrow(/already has the execution /);
    }
  });
});
