import { ToolExecution, type AgentEvent, type AgentState, type Hook, type Message } from '@holdfast/core';
import { nextAction, type HookPoint } from '@holdfast/core/engine';
import type { ScriptedAnswer } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import {
  deferred,
  does,
  expectPaired,
  observe,
  type Observation,
  type Scenario,
} from '../../support/builders.ts';

// A hook may end the execution by a transition of the state, at any point. What was done and paid for is kept all the same.

const ways: readonly (readonly [name: string, end: (state: AgentState) => AgentState, status: string])[] = [
  ['withFailure', (state) => state.withFailure(new Error('policy'), 50), 'failed'],
  ['withExecutionCompleted', (state) => state.withExecutionCompleted(50), 'completed'],
  ['withExecutionStatus', (state) => state.withExecutionStatus('stopped', 50), 'stopped'],
];
const WRAPPING: ReadonlySet<string> = new Set([
  'beforeInference',
  'afterInference',
  'beforeToolUse',
  'afterToolUse',
]);

/** A hook that ends the execution at a point. */
function ends(point: HookPoint, end: (state: AgentState) => AgentState): Hook {
  const wraps = WRAPPING.has(point);
  const act = (first: AgentState, context: { readonly state: AgentState }): unknown =>
    wraps ? { state: end(context.state) } : end(first);
  return { name: 'ends', [point]: act };
}

const usage = { inputTokens: 10, outputTokens: 5 };
const pays: ScriptedAnswer = { calls: [['pay', {}]], usage };

const resultsIn = (messages: Iterable<Message>): unknown[] =>
  [...messages].flatMap(({ role, content }) =>
    role === 'tool' ? content.map(({ output }) => ('value' in output ? output.value : output.reason)) : [],
  );

function expectClosed({ state }: Observation): void {
  expect([state.execution?.isTerminal, state.currentStep, nextAction(state).type]).toEqual([
    true,
    undefined,
    'none',
  ]);
  expectPaired(state.messages);
}

const run = (scenario: Scenario): Promise<Observation> =>
  observe({ script: [pays, 'Done.'], tools: [does('pay', () => 'paid 1')], ...scenario });

describe.for(ways)('%s', ([, end, status]) => {
  const points: readonly (readonly [HookPoint, answered: number, results: readonly unknown[]])[] = [
    ['beforeExecution', 0, []],
    ['beforeStep', 0, []],
    ['beforeInference', 0, []],
    ['afterInference', 1, ['Not run: the execution stopped.']],
    ['beforeToolUse', 1, ['Not run: the execution stopped.']],
    ['afterToolUse', 1, ['paid 1']],
    ['afterStep', 1, ['paid 1']],
  ];
  test.for(points)(
    'in %s closes the step with what was done and paid for',
    async ([point, answered, results]) => {
      const seen = await run({ hooks: [ends(point, end)] });
      expectClosed(seen);
      expect([seen.state.status, seen.driver.requests.length]).toEqual([status, answered]);
      expect(resultsIn(seen.state.messages)).toEqual(results);
      expect(seen.state.usage.totalTokens).toBe(15 * answered);
      expect(seen.trace.filter((line) => line === `+${status}`)).toEqual([`+${status}`]);
      expect(seen.trace.filter((line) => line.startsWith('+step-done')).length).toBe(seen.state.steps.length);
      expect(seen.trace.filter((line) => line.startsWith('+answer')).length).toBe(answered);
    },
  );
});

describe('parallel calls', () => {
  const two: ScriptedAnswer = {
    calls: [
      ['slow', {}],
      ['quick', {}],
    ],
    usage,
  };

  test('a call that completes after the end of the execution has its own outcome', async () => {
    const slow = deferred<string>();
    const hook: Hook = {
      afterToolUse: ({ name }, { state }) => {
        if (name !== 'quick') return undefined;
        setImmediate(() => slow.resolve('paid 1'));
        return { state: state.withFailure(new Error('policy'), 50) };
      },
    };
    const tools = [does('slow', () => slow.promise), does('quick', () => 'sent')];
    const seen = await run({ script: [two], tools, hooks: [hook] });
    expectClosed(seen);
    expect(resultsIn(seen.state.messages)).toEqual(['paid 1', 'sent']);
    expect(seen.state.lastStep?.toolExecutions.map(({ outcome }) => outcome?.type)).toEqual([
      'succeeded',
      'succeeded',
    ]);
    expect([seen.state.status, seen.state.steps.length, seen.state.messages.length]).toEqual([
      'failed',
      1,
      3,
    ]);
  });

  test('outcomes, usage and started calls that arrive while a hook runs are not dropped', async () => {
    const [held, other] = [deferred(), deferred<string>()];
    const hook: Hook = {
      beforeToolUse: async ({ toolName }, { state }) => {
        if (toolName !== 'third') return undefined;
        other.resolve('paid 1');
        await held.promise;
        return { state: state.withExecutionStatus('stopped', 50) };
      },
    };
    const first = does('first', async (_, { addUsage }) => {
      const value = await other.promise;
      addUsage({ inputTokens: 100, outputTokens: 0 });
      setImmediate(() => held.resolve());
      return value;
    });
    const script: ScriptedAnswer[] = [
      {
        calls: [
          ['first', {}],
          ['third', {}],
        ],
        usage,
      },
    ];
    const seen = await run({ script, tools: [first, does('third')], hooks: [hook] });
    expectClosed(seen);
    expect(resultsIn(seen.state.messages)).toEqual(['paid 1', 'Not run: the execution stopped.']);
    expect([seen.state.status, seen.state.usage.totalTokens]).toEqual(['stopped', 115]);
  });

  test('a call that still runs at the end of the execution is interrupted until it completes', async () => {
    const slow = deferred<string>();
    const results: unknown[] = [];
    const hooks: Hook[] = [
      {
        afterToolUse: ({ name }, { state }) =>
          name === 'quick' ? { state: state.withExecutionStatus('stopped', 50) } : undefined,
      },
    ];
    const listener = ({ type, state }: AgentEvent): void => {
      if (type !== 'execution-stopped') return;
      results.push(...resultsIn(state.messages));
      slow.resolve('paid 1');
    };
    const tools = [does('slow', () => slow.promise), does('quick', () => 'sent')];
    const seen = await run({ script: [two], tools, hooks, listeners: [listener] });
    expectClosed(seen);
    expect(results).toEqual([expect.stringContaining('was started and interrupted'), 'sent']);
    expect(resultsIn(seen.state.messages)).toEqual(['paid 1', 'sent']);
  });
});

test('a hook’s outcome of a call stays when the hook also ends the execution', async () => {
  const hook: Hook = {
    afterToolUse: (execution, { state }) => ({
      toolExecution: execution.withOutcome({ type: 'succeeded', value: 'masked' }, 49),
      state: state.withExecutionStatus('stopped', 50),
    }),
  };
  const seen = await run({ hooks: [hook] });
  expectClosed(seen);
  expect(resultsIn(seen.state.messages)).toEqual(['masked']);
  expect(seen.state.lastStep?.toolExecutions[0]).toBeInstanceOf(ToolExecution);
});
