import {
  AgentStop,
  conversationWithCurrentToolTrace,
  ToolExecution,
  type AgentState,
  type Clock,
  type Tool,
  type ToolCallPart,
} from '@holdfast/core';
import { InferenceResponse, type Driver } from '@holdfast/core/driver';
import {
  applyOutcome,
  nextAction,
  ExecutionId,
  StepId,
  ToolExecutionId,
  newStepMessageIds,
  type NextAction,
  type StepperOutcome,
} from '@holdfast/core/engine';
import { scriptedDriver, steppedClock, toolContext, type ScriptedAnswer } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import {
  call,
  cameTo,
  does,
  expectPaired,
  expectSound,
  observe,
  told,
  untouched,
} from '../../support/builders.ts';

/** Another interpreter of the stepper: one tool at a time, no hooks, no events. */
async function interpret(
  start: AgentState,
  driver: Driver,
  tools: readonly Tool[],
  clock: Clock,
): Promise<AgentState> {
  const compile = conversationWithCurrentToolTrace();
  let state = start;
  for (;;) {
    const outcome = await carryOut(nextAction(state));
    if (outcome === undefined) return state;
    state = expectSound(await untouched(state, () => applyOutcome(state, outcome)));
  }

  async function carryOut(action: NextAction): Promise<StepperOutcome | undefined> {
    const at = clock.now();
    switch (action.type) {
      case 'start':
        return { type: 'started', executionId: ExecutionId.create(clock), at };
      case 'beginStep':
        return { type: 'stepBegun', stepId: StepId.create(clock), input: compile(state), at };
      case 'infer':
        return infer(at);
      case 'runTools':
        return { type: 'toolsAdvanced', toolExecutions: [await run(action.calls[0] as ToolCallPart)], at };
      case 'closeStep':
        return { type: 'stepClosed', messageIds: newStepMessageIds(clock), at: clock.now() };
      case 'finish':
        return { type: 'finished', at };
      case 'resolveTools':
      case 'wait':
      case 'none':
        return undefined;
    }
  }

  async function infer(at: number): Promise<StepperOutcome> {
    const { messages, systemPrompt, llmConfig, responseFormat } = state;
    const input = state.currentStep?.input ?? messages;
    const request = {
      messages: input,
      systemPrompt,
      llmConfig,
      responseFormat,
      tools,
      toolChoice: 'auto',
    } as const;
    try {
      const options = { signal: new AbortController().signal, onDelta: undefined };
      return { type: 'inferred', response: InferenceResponse.of(await driver.infer(request, options)), at };
    } catch (error) {
      return { type: 'failed', error, at };
    }
  }

  async function run(asked: ToolCallPart): Promise<ToolExecution> {
    const started = ToolExecution.start(asked, clock.now(), ToolExecutionId.create(clock));
    const found = tools.find(({ name }) => name === asked.toolName);
    const value = (await found?.execute(asked.input, toolContext({ state }))) as string;
    return started.withOutcome({ type: 'succeeded', value }, clock.now());
  }
}

const scripts: Readonly<Record<string, readonly ScriptedAnswer[]>> = {
  'a final response': ['Hi.'],
  'a tool and a final response': [call('a'), 'Hi.'],
  'two steps with tools and a final response': [call('a', 'b'), call('b', 'a', 'a'), 'Hi.'],
  'a truncated response': [
    { content: [{ type: 'tool-call', toolCallId: '1', toolName: 'a', input: {} }], finishReason: 'length' },
    'Hi.',
  ],
  'a response with a finish reason of the provider': [
    {
      content: [{ type: 'tool-call', toolCallId: '1', toolName: 'a', input: {} }],
      finishReason: 'other',
      rawFinishReason: 'eos',
    },
    'Hi.',
  ],
  'an error': [call('a'), new Error('down')],
  'only a file': [
    { content: [{ type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AAAA' } }] },
  ],
};

test.each(Object.entries(scripts))(
  'an interpreter of the stepper gives the same result as the loop: %s',
  async (_, script) => {
    const tools = [does('a'), does('b')];
    const { state: byLoop } = await observe({ script, tools });
    const byHand = await interpret(told(), scriptedDriver(...script), tools, steppedClock(1_000));
    expect(cameTo(byHand)).toEqual(cameTo(byLoop));
    expectPaired(byHand.messages);
  },
);

describe('the next action', () => {
  const clock = steppedClock(1_000);
  const start = told();
  const begun = applyOutcome(start, { type: 'started', executionId: ExecutionId.create(), at: 1_000 });
  const inStep = applyOutcome(begun, {
    type: 'stepBegun',
    stepId: StepId.create(clock),
    input: begun.messages,
    at: 1_001,
  });
  const answered = (init: Parameters<typeof InferenceResponse.of>[0]): AgentState =>
    applyOutcome(inStep, { type: 'inferred', response: InferenceResponse.of(init), at: 1_002 });
  const twoCalls = answered({
    content: ['1', '2'].map((toolCallId) => ({ type: 'tool-call', toolCallId, toolName: 'a', input: {} })),
  });
  const stop = (state: AgentState): AgentState => state.withStopSignal(new AgentStop('x').signal, 1_003);
  const [first] = twoCalls.currentStep?.pendingToolCalls ?? [];
  const running = ToolExecution.start(first as ToolCallPart, 1_003);
  const oneRan = applyOutcome(twoCalls, {
    type: 'toolsAdvanced',
    toolExecutions: [running.withOutcome({ type: 'succeeded', value: 1 }, 1_004)],
    at: 1_004,
  });
  const closed = applyOutcome(answered({ text: 'Hi.' }), {
    type: 'stepClosed',
    messageIds: newStepMessageIds(clock),
    at: clock.now(),
  });
  type Case = readonly [name: string, state: AgentState, next: NextAction['type'], calls?: number];
  const cases: readonly Case[] = [
    ['no execution', start, 'start'],
    ['a pending execution', start.withExecutionStatus('pending'), 'start'],
    ['a started execution', begun, 'beginStep'],
    ['a suspended execution', begun.withExecutionStatus('suspended'), 'wait'],
    ['a stopped execution', stop(begun), 'finish'],
    [
      'a stopped execution with a request for another step',
      stop(begun).withContinuationRequested(),
      'beginStep',
    ],
    ['an error before any step', begun.withError(new Error('x')), 'finish'],
    ['a step without a response', inStep, 'infer'],
    ['a stopped step without a response', stop(inStep), 'closeStep'],
    ['a step with an error', inStep.withError(new Error('x')), 'closeStep'],
    ['a step with a response', answered({ text: 'Hi.' }), 'closeStep'],
    ['a step with calls', twoCalls, 'runTools', 2],
    ['a stopped step with calls', stop(twoCalls), 'closeStep'],
    ['a step with one completed call', oneRan, 'runTools', 1],
    [
      'a step with one running call',
      applyOutcome(twoCalls, { type: 'toolsAdvanced', toolExecutions: [running], at: 1_003 }),
      'resolveTools',
    ],
    ['a final response', closed, 'finish'],
    ['a final response and a request for another step', closed.withContinuationRequested(), 'beginStep'],
    ['a terminal execution', closed.withExecutionCompleted(), 'none'],
  ];
  test.each(cases.map(([name, state, type, calls]) => ({ name, state, type, calls })))(
    '$name',
    ({ state, type, calls }) => {
      expectSound(state);
      const action = nextAction(state);
      expect(action.type).toBe(type);
      expect(action.type === 'runTools' ? action.calls.length : undefined).toBe(calls);
      expect(nextAction(state)).toEqual(action);
    },
  );

  test('applyOutcome gives equal states for equal arguments', () => {
    const outcome: StepperOutcome = {
      type: 'inferred',
      response: InferenceResponse.of({ text: 'Hi.' }),
      at: 5_000,
    };
    expect(applyOutcome(inStep, outcome)).toEqual(applyOutcome(inStep, outcome));
  });

  test('an outcome of an unknown type, or with anything but tool executions, is refused', () => {
    const apply = (outcome: unknown) => () => applyOutcome(inStep, outcome as StepperOutcome);
    expect(apply({ type: 'toolAdvanced', toolExecution: running, at: 1 })).toThrow(
      'The type of an outcome must be one of started, stepBegun, inputChanged, requestChanged, inferred, inferenceFailed, inferenceRetried, toolsAdvanced, failed, stepClosed, suspended, finished, found string "toolAdvanced".',
    );
    expect(apply(null)).toThrow('The outcome of an action must be an object, found null.');
    expect(apply({ type: 'toolsAdvanced', toolExecutions: [{ ...running }], at: 1 })).toThrow(
      'Expected an execution, as returned by ToolExecution.create(), found an object.',
    );
  });

  test('an outcome of a missing step changes nothing', () => {
    for (const outcome of [
      { type: 'inferred', response: InferenceResponse.of({ text: 'Hi.' }), at: 1 },
      { type: 'toolsAdvanced', toolExecutions: [running], at: 1 },
      { type: 'stepClosed', messageIds: newStepMessageIds(clock), at: clock.now() },
    ] as const) {
      expect(applyOutcome(begun, outcome)).toBe(begun);
    }
  });
});
