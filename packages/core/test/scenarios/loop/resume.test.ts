import {
  AgentState,
  createAgentLoop,
  ToolExecution,
  type AgentEvent,
  type ToolCallPart,
} from '@holdfast/core';
import { applyOutcome, nextAction, ExecutionId, StepId, newStepMessageIds } from '@holdfast/core/engine';
import { InferenceResponse, type Driver, type InferenceResponseInit } from '@holdfast/core/driver';
import { steppedClock } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { cameTo, does, driverOf, expectPaired, expectSound, observe, told } from '../../support/builders.ts';

/** Two steps of tools and an answer; what the model says follows from what it is shown. */
const turns: readonly InferenceResponseInit[] = [
  { content: calls('a1', 'b1'), usage: { inputTokens: 10, outputTokens: 1 } },
  {
    content: [{ type: 'text', text: 'More.' }, ...calls('b2', 'a2', 'bad2')],
    usage: { inputTokens: 20, outputTokens: 2 },
  },
  { text: 'Done.', usage: { inputTokens: 30, outputTokens: 3 } },
];

function calls(...ids: string[]): ToolCallPart[] {
  return ids.map((id) => ({ type: 'tool-call', toolCallId: id, toolName: id.slice(0, -1), input: { id } }));
}

/** Whom a run has asked for what. */
interface Journal {
  readonly turns: number[];
  readonly tools: string[];
}

/** Each process makes ids of its own. */
let processes = 9_000;

function loopWith(journal: Journal, maxParallelTools = 8) {
  const driver: Driver = driverOf(async ({ messages }) => {
    const turn = [...messages].filter(({ role }) => role === 'assistant').length;
    journal.turns.push(turn);
    return turns[turn] ?? { text: 'Too far.' };
  });
  const work = (name: string) =>
    does(name, (args) => {
      const { id } = args as { readonly id: string };
      journal.tools.push(id);
      if (name === 'bad') throw new Error('bad luck');
      return `${id} done`;
    });
  const tools = ['a', 'b', 'bad'].map(work);
  return createAgentLoop({ driver, tools, maxParallelTools, clock: steppedClock((processes += 1_000)) });
}

/** Every state a run passes through, with the words for the moment. */
async function moments(
  maxParallelTools?: number,
): Promise<{ moments: [string, AgentState][]; last: AgentState }> {
  const found: [string, AgentState][] = [];
  const loop = loopWith({ turns: [], tools: [] }, maxParallelTools);
  const onEvent = ({ type, state }: AgentEvent): void => void found.push([type, state]);
  let last = told();
  for await (const state of loop.iterate(last, { onEvent })) {
    last = state;
    found.push(['yielded', state]);
  }
  const seen = new Set<AgentState>();
  return { moments: found.filter(([, state]) => !seen.has(state) && seen.add(state)), last };
}

/** Everything that did not depend on where the run was cut. */
const whole = await moments();
const expected = cameTo(whole.last);
const unfinished = [...whole.moments, ...(await moments(1)).moments].filter(
  ([, { status }]) => status === 'inProgress',
);

describe('a run that was interrupted and resumed by another process', () => {
  test('is interrupted at every kind of event', () => {
    const kinds = new Set(unfinished.map(([type]) => type));
    for (const kind of [
      'execution-started',
      'step-started',
      'inference-completed',
      'tool-started',
      'tool-completed',
      'step-completed',
    ]) {
      expect(kinds).toContain(kind);
    }
    expect(whole.last.status).toBe('completed');
  });

  test.each(unfinished.map(([type, state], index) => [index, type, state] as const))(
    '%i: at %s',
    async (_, __, cut) => {
      const journal: Journal = { turns: [], tools: [] };
      const stored = AgentState.fromJSON(JSON.parse(JSON.stringify(expectSound(cut))));
      const events: string[] = [];
      const last = await loopWith(journal).run(stored, { onEvent: ({ type }) => void events.push(type) });
      expectPaired(expectSound(last).messages);

      expect(events[0]).toBe('execution-resumed');
      expect([last.status, last.executionId, last.executionCount]).toEqual(['completed', cut.executionId, 1]);
      const begun = [...cut.steps, ...(cut.currentStep ? [cut.currentStep] : [])].flatMap(
        (step) => step.toolExecutions,
      );
      const answered = cut.steps.length + (cut.currentStep?.response ? 1 : 0);
      expect(journal.turns).toEqual([0, 1, 2].slice(answered));
      const all = ['a1', 'b1', 'b2', 'a2', 'bad2'];
      expect(journal.tools).toEqual(all.filter((id) => !begun.some(({ call }) => call.toolCallId === id)));
      expect(last.steps.slice(0, cut.steps.length)).toEqual(stored.steps);

      const interrupted = begun.filter(({ isRunning }) => isRunning).map(({ call }) => call.toolCallId);
      const outcomes = new Map(
        last.steps.flatMap(({ toolExecutions }) =>
          toolExecutions.map((done) => [done.call.toolCallId, done.outcome?.type]),
        ),
      );
      for (const id of all) {
        expect(outcomes.get(id)).toBe(
          interrupted.includes(id) ? 'interrupted' : id === 'bad2' ? 'failed' : 'succeeded',
        );
      }
      const isWhole = interrupted.length === 0;
      expect(isWhole ? cameTo(last) : expected).toEqual(expected);
    },
  );

  test('a completed run starts again with its whole conversation', async () => {
    const stored = AgentState.fromJSON(JSON.parse(JSON.stringify(whole.last)));
    const { state, trace } = await observe({ state: stored, script: ['Again.'] });
    expect(trace[0]).toBe('+started');
    expect(state.executionId).not.toBe(whole.last.executionId);
    expect([state.executionCount, state.finalResponse, state.stepCount]).toEqual([2, 'Again.', 1]);
    expect(state.messages.slice(0, stored.messages.length)).toEqual(stored.messages.slice());
  });
});

describe('states that are built by hand', () => {
  const clock = steppedClock(5_000);
  const begun = applyOutcome(told(), { type: 'started', executionId: ExecutionId.create(clock), at: 5_000 });
  const inStep = applyOutcome(begun, {
    type: 'stepBegun',
    stepId: StepId.create(clock),
    input: begun.messages,
    at: 5_001,
  });
  const asked = applyOutcome(inStep, {
    type: 'inferred',
    response: InferenceResponse.of({ content: calls('a1', 'b1') }),
    at: 5_002,
  });
  const first = asked.currentStep?.pendingToolCalls[0] as ToolCallPart;
  const running = applyOutcome(asked, {
    type: 'toolsAdvanced',
    toolExecutions: [ToolExecution.start(first, 5_003)],
    at: 5_003,
  });

  test('a started call is reported to hooks and listeners as interrupted', async () => {
    const { state, trace } = await observe({
      state: running,
      script: ['Hm.'],
      tools: [does('a'), does('b')],
    });
    expect(trace.slice(0, 4)).toEqual(['+resumed', 'beforeExecution', '+interrupted a', 'afterToolUse a']);
    expect(state.errors).toMatchObject([{ code: 'TOOL_INTERRUPTED' }]);
    expect(state.status).toBe('completed');
  });

  test('an interrupted call can fail the run, according to the outcome rules', async () => {
    const { state } = await observe({ state: running, tools: [does('a'), does('b')], toolErrors: 'fail' });
    expect([state.status, state.stopReason]).toEqual(['failed', 'errorForbade']);
  });

  test('a hook that throws in beforeExecution does not drop the started call', async () => {
    const hooks = [
      {
        beforeExecution: () => {
          throw new Error('boom');
        },
      },
    ];
    const { state } = await observe({ state: running, hooks });
    expect([state.status, state.steps[0]?.toolExecutions[0]?.outcome?.type]).toEqual([
      'failed',
      'interrupted',
    ]);
  });

  test('a step with a response and a stop signal is closed, and the execution ends', async () => {
    const state = asked.withStopSignal({ reason: 'stopRequested', message: 'x' }, 5_004);
    const { state: last } = await observe({ state });
    expect([last.status, last.steps[0]?.toolExecutions, last.messages.length]).toEqual(['stopped', [], 3]);
  });

  test('an execution whose last step is closed only needs its end', async () => {
    const state = applyOutcome(
      applyOutcome(inStep, { type: 'inferred', response: InferenceResponse.of({ text: 'Hi.' }), at: 5_002 }),
      { type: 'stepClosed', messageIds: newStepMessageIds(clock), at: clock.now() },
    );
    const { state: last, trace } = await observe({ state });
    expect(trace).toEqual(['+resumed', 'beforeExecution', 'afterExecution', '+completed']);
    expect(last.finalResponse).toBe('Hi.');
  });

  const waits = [begun, inStep, asked, running].map((state) =>
    state.withExecutionStatus('suspended', 5_010, [{ type: 'until', until: 9_000_000 }]),
  );
  test.each(waits.map((state, index) => [index, state] as const))(
    'a waiting execution does not change (%i)',
    async (_, state) => {
      expect(nextAction(state)).toMatchObject({ type: 'wait', waiting: [{ type: 'until' }] });
      const { state: last, trace } = await observe({ state });
      expect(last).toBe(state);
      expect(trace).toEqual([]);
    },
  );

  test('an execution that a hook suspends retains its open step', async () => {
    const { state, trace } = await observe({
      script: [{ calls: { a: {} } }],
      tools: [does('a')],
      hooks: [
        {
          beforeToolUse: (_, { state: now }) => ({
            state: now.withExecutionStatus('suspended', 6_000, [{ type: 'input' }]),
          }),
        },
      ],
    });
    expect([state.status, state.currentStep?.pendingToolCalls.length]).toEqual(['suspended', 1]);
    expect(state.execution?.workedSeconds).toBeGreaterThan(0);
    expect(trace.at(-1)).toBe('+suspended');
    const { state: last } = await observe({
      state: state.withExecutionStatus('inProgress', 7_000),
      script: ['Hi.'],
      tools: [does('a')],
    });
    expect([last.status, last.executionCount, last.steps.length]).toEqual(['completed', 1, 2]);
  });
});
