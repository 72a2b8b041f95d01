import { describe, expect, test } from 'vitest';
import {
  AgentState,
  AgentStep,
  createAgentLoop,
  metadataKey,
  tool,
  ToolExecution,
  userMessage,
  Usage,
  type ExecutionStatus,
  type StopReason,
  type ToolOutcome,
  type Waiting,
} from '@holdfast/core';
import { InferenceResponse, List, type AssistantPart } from '@holdfast/core/driver';
import {
  Continuation,
  ExecutionState,
  isForceStop,
  isTerminal,
  STOP_REASON_RANK,
  StepId,
  stopSignal,
  newStepMessageIds,
  SessionId,
  type ExecutionId,
} from '@holdfast/core/engine';
import { manualClock, scriptedDriver, steppedClock } from '@holdfast/core/testing';
import { expectDeeplyFrozen, expectRoundTrip, START as T, storeOf } from '../support/arbitraries.ts';
import { someError } from '../support/step-parts.ts';

const AGENT = '00000000-0000-4000-8000-00000000000a';
const call = (toolCallId: string): AssistantPart => ({
  type: 'tool-call',
  toolCallId,
  toolName: 'add',
  input: { a: 1 },
});
const answer = (text = 'Hi', usage = {}) => InferenceResponse.of({ text, usage });
const asks = (...ids: string[]) =>
  InferenceResponse.of({ content: ids.map(call), usage: { inputTokens: 1, outputTokens: 2 } });
const blank = AgentState.empty({ agentId: AGENT, at: T });
const stepWith = (response?: InferenceResponse) => {
  const step = AgentStep.create(List.empty());
  return response ? step.withResponse(response) : step;
};
/** A step that asked for one tool, which ended so. */
const toolStep = (outcome: ToolOutcome) => {
  const step = stepWith(asks('call_1'));
  const [requested] = step.requestedToolCalls;
  if (requested === undefined) throw new TypeError('There is a call.');
  return step.withToolExecution(ToolExecution.start(requested, T).withOutcome(outcome, T + 1));
};
const begun = blank.withExecutionStatus('inProgress', T);
/** An execution after these finished steps. */
const after = (...steps: AgentStep[]) =>
  steps.reduce((state, step) => state.withCurrentStep(step, T + 1).withCurrentStepCompleted(T + 2), begun);
const raise = (state: AgentState, ...reasons: StopReason[]) =>
  reasons.reduce((one, reason) => one.withStopSignal(stopSignal({ reason }), T + 3), state);

describe('a new agent', () => {
  test('has nothing but its identity', () => {
    expect(blank.debug()).toEqual({
      status: undefined,
      executionCount: 0,
      hasExecution: false,
      executionId: undefined,
      steps: 0,
      continuation: 'no execution',
      hasErrors: false,
      errors: [],
      usage: {},
    });
    expect([blank.agentId, blank.parentAgentId, blank.createdAt, blank.updatedAt]).toEqual([
      AGENT,
      undefined,
      T,
      T,
    ]);
    expect([blank.messages.length, blank.steps.length, blank.stepExecutions.length]).toEqual([0, 0, 0]);
    expect([blank.shouldStop, blank.hasActiveExecution, blank.hasFinalResponse, blank.hasErrors]).toEqual([
      false,
      false,
      false,
      false,
    ]);
    expect([
      blank.finalResponse,
      blank.currentResponse,
      blank.cost,
      blank.lastStep,
      blank.lastToolExecution,
    ]).toEqual(Array(5).fill(undefined));
    expect([blank.executionDuration, blank.systemPrompt, blank.responseFormat, blank.llmConfig]).toEqual([
      0,
      undefined,
      undefined,
      undefined,
    ]);
    expectRoundTrip(blank);
  });

  test('gets a new id, or a given UUID', () => {
    expect(AgentState.empty().agentId).not.toBe(AgentState.empty().agentId);
    expect(AgentState.empty({ parentAgentId: AGENT }).parentAgentId).toBe(AGENT);
    for (const agentId of ['', 'x', `${AGENT}0`, ` ${AGENT}`, `{${AGENT}}`]) {
      expect(() => AgentState.empty({ agentId })).toThrow(expect.objectContaining({ code: 'ID_INVALID' }));
    }
  });
});

// Each row: a name, a state, a change of it at a time, and what the change makes different (all else stays).
const message = userMessage('Hello', { clock: steppedClock() });
const running = after(toolStep({ type: 'succeeded', value: 1 })).withCurrentStep(stepWith(), T + 2);
const done = after(stepWith(answer())).withExecutionCompleted(T + 3);
type Change = (state: AgentState, at: number) => AgentState;
const changes: readonly (readonly [
  name: string,
  from: AgentState,
  change: Change,
  differs: readonly (keyof AgentState)[],
])[] = [
  ['withSystemPrompt', blank, (s, at) => s.withSystemPrompt('Be brief.', at), ['context']],
  [
    'withSystemPrompt(undefined)',
    blank.withSystemPrompt('x', T),
    (s, at) => s.withSystemPrompt(undefined, at),
    ['context'],
  ],
  ['withUserMessage', blank, (s, at) => s.withUserMessage('Hello', {}, at), ['context']],
  ['withUserMessage while running', running, (s, at) => s.withUserMessage('Hello', {}, at), ['context']],
  ['withMessages', blank, (s, at) => s.withMessages([message], at), ['context']],
  ['withMessages when terminal', done, (s, at) => s.withMessages([], at), ['context']],
  [
    'withMessageStore',
    blank,
    (s, at) => s.withMessageStore(storeOf({ summary: [message] }), at),
    ['context'],
  ],
  ['withMetadata', blank, (s, at) => s.withMetadata('a', 1, at), ['context']],
  ['withResponseFormat', blank, (s, at) => s.withResponseFormat({ type: 'json' }, at), ['context']],
  ['withLlmConfig', blank, (s, at) => s.withLlmConfig({ model: 'x' }, at), ['llmConfig']],
  ['withCurrentStep', begun, (s, at) => s.withCurrentStep(stepWith(), at), ['execution']],
  [
    'withCurrentStep without an execution',
    blank,
    (s, at) => s.withCurrentStep(stepWith(), at),
    ['execution'],
  ],
  ['withCurrentStepCompleted', running, (s, at) => s.withCurrentStepCompleted(at), ['execution']],
  [
    'withStopSignal',
    running,
    (s, at) => s.withStopSignal(stopSignal({ reason: 'unknown' }), at),
    ['execution'],
  ],
  [
    'withStopSignal without an execution',
    blank,
    (s, at) => s.withStopSignal(stopSignal({ reason: 'unknown' }), at),
    ['execution'],
  ],
  ['withContinuationRequested', running, (s, at) => s.withContinuationRequested(at), ['execution']],
  [
    'withContinuationRequested without an execution',
    blank,
    (s, at) => s.withContinuationRequested(at),
    ['execution'],
  ],
  ['withError', running, (s, at) => s.withError(new Error('no'), at), ['execution']],
  ['withError without an execution', blank, (s, at) => s.withError('no', at), ['execution']],
  ['withFailure', running, (s, at) => s.withFailure(new Error('no'), at), ['execution']],
  [
    'withExecutionStatus inProgress',
    blank,
    (s, at) => s.withExecutionStatus('inProgress', at),
    ['execution', 'executionCount'],
  ],
  ['withExecutionStatus pending', blank, (s, at) => s.withExecutionStatus('pending', at), ['execution']],
  [
    'withExecutionStatus suspended',
    begun,
    (s, at) => s.withExecutionStatus('suspended', at, [{ type: 'input' }]),
    ['execution'],
  ],
  ['withExecutionCompleted', running, (s, at) => s.withExecutionCompleted(at), ['execution']],
  ['withTimeWorked', running, (s, at) => s.withTimeWorked(2, at), ['execution']],
  ['forNextExecution', done, (s, at) => s.forNextExecution(at), ['execution']],
];

describe.for(changes)('%s', ([, from, change, differs]) => {
  const fields = [
    'agentId',
    'parentAgentId',
    'createdAt',
    'executionCount',
    'llmConfig',
    'context',
    'execution',
  ] as const;

  test('changes the named members and updatedAt, and not its input', () => {
    const text = JSON.stringify(from);
    const to = change(from, T + 1_000);
    for (const field of fields) {
      expect([field, to[field] !== from[field]]).toEqual([field, differs.includes(field)]);
    }
    expect(to.updatedAt).toBe(T + 1_000);
    expect(JSON.stringify(from)).toBe(text);
    expectRoundTrip(to);
  });

  test('does not decrease updatedAt when the clock goes back', () => {
    expect(change(from, T - 1_000).updatedAt).toBe(from.updatedAt);
    expectRoundTrip(change(from, T - 1_000));
  });

  test('uses the time of the clock when no time is passed', () => {
    expect(change(from, undefined as never).updatedAt).toBeGreaterThanOrEqual(from.updatedAt);
  });
});

const furnished = blank
  .withSystemPrompt('p', T)
  .withMetadata('a', { b: [1] }, T)
  .withLlmConfig({ model: 'm', stopSequences: ['x'] }, T)
  .withResponseFormat({ type: 'json', schema: { type: 'object' } }, T)
  .withMessages([message], T);
const suspended = begun.withExecutionStatus('suspended', T, [{ type: 'until', until: T + 9 }]);
const requested = begun.withContinuationRequested(T);
const unchanged: readonly (readonly [name: string, state: AgentState, change: Change])[] = [
  ['the same system prompt', furnished, (s, at) => s.withSystemPrompt('p', at)],
  ['the same metadata', furnished, (s, at) => s.withMetadata('a', { b: [1] }, at)],
  ['the same metadata value set', furnished, (s, at) => s.withMetadata('a', s.metadata.get('a') ?? null, at)],
  [
    'the same model settings',
    furnished,
    (s, at) => s.withLlmConfig({ stopSequences: ['x'], model: 'm' }, at),
  ],
  ['no model settings, as before', blank, (s, at) => s.withLlmConfig(undefined, at)],
  [
    'the same response format',
    furnished,
    (s, at) => s.withResponseFormat({ type: 'json', schema: { type: 'object' } }, at),
  ],
  ['the same list of messages', furnished, (s, at) => s.withMessages(s.messages, at)],
  ['the same messages in an array', furnished, (s, at) => s.withMessages([...s.messages], at)],
  ['the same store', furnished, (s, at) => s.withMessageStore(s.store, at)],
  ['nothing appended', blank, (s, at) => s.withMessageStore(s.store.append('summary', []), at)],
  ['an absent section removed', blank, (s, at) => s.withMessageStore(s.store.withoutSection('summary'), at)],
  ['the same open step', running, (s, at) => s.withCurrentStep(s.currentStep as AgentStep, at)],
  ['no open step to close', begun, (s, at) => s.withCurrentStepCompleted(at)],
  ['no execution with a step to close', blank, (s, at) => s.withCurrentStepCompleted(at)],
  ['a second request', requested, (s, at) => s.withContinuationRequested(at)],
  ['the same status', begun, (s, at) => s.withExecutionStatus('inProgress', at)],
  [
    'the same waiting',
    suspended,
    (s, at) => s.withExecutionStatus('suspended', at, [{ type: 'until', until: T + 9 }]),
  ],
  ['a terminal execution completed again', done, (s, at) => s.withExecutionCompleted(at)],
  ['no time worked', begun, (s, at) => s.withTimeWorked(0, at)],
  ['negative time worked', begun, (s, at) => s.withTimeWorked(-1, at)],
  ['time worked without an execution', blank, (s, at) => s.withTimeWorked(5, at)],
  ['no execution to clear', blank, (s, at) => s.forNextExecution(at)],
];

test.for(unchanged)('the state itself is returned for %s', ([, state, change]) => {
  expect(change(state, T + 1_000)).toBe(state);
});

describe('executions', () => {
  test('an execution created by a transition is pending, is not counted yet, and has the time of the transition', () => {
    const born = blank.withContinuationRequested(T + 7);
    expect([born.status, born.executionCount, born.execution?.startedAt]).toEqual(['pending', 0, T + 7]);
    expect(blank.execution).toBeUndefined();
  });

  test('two transitions of one new state create two executions, chained transitions create one', () => {
    expect(blank.withContinuationRequested(T).executionId).not.toBe(
      blank.withContinuationRequested(T).executionId,
    );
    const one = blank.withContinuationRequested(T);
    expect(raise(one, 'unknown').executionId).toBe(one.executionId);
  });

  const counts: readonly (readonly [name: string, moves: readonly ExecutionStatus[], count: number])[] = [
    ['none to pending', ['pending'], 0],
    ['none to inProgress', ['inProgress'], 1],
    ['pending to inProgress', ['pending', 'inProgress'], 1],
    ['suspended and resumed', ['inProgress', 'suspended', 'inProgress'], 1],
    ['ended', ['inProgress', 'completed'], 1],
    ['ended without work', ['failed'], 0],
  ];
  test.for(counts)('the count after %s', ([, moves, count]) => {
    const state = moves.reduce((one, status) => one.withExecutionStatus(status, T), blank);
    expect(state.executionCount).toBe(count);
    expect(state.forNextExecution(T).withExecutionStatus('inProgress', T).executionCount).toBe(count + 1);
  });

  const statuses: readonly ExecutionStatus[] = [
    'pending',
    'inProgress',
    'suspended',
    'completed',
    'stopped',
    'failed',
  ];
  test.for(statuses)('completedAt is set exactly if %s is terminal', (status) => {
    const state = begun.withExecutionStatus(status, T + 5);
    expect(state.execution?.completedAt).toBe(isTerminal(status) ? T + 5 : undefined);
    expect(state.hasActiveExecution).toBe(!isTerminal(status));
    expect(begun.withExecutionStatus(status, T - 5).execution?.completedAt).toBe(
      isTerminal(status) ? T : undefined,
    );
    expect(state.withExecutionStatus('inProgress', T + 6).execution?.completedAt).toBeUndefined();
  });

  test('a suspended execution has a copy of its waiting list, an execution in progress has none', () => {
    const child: Waiting = { type: 'child', sessionId: SessionId.parse('a') };
    const waiting: Waiting[] = [child];
    const state = begun.withExecutionStatus('suspended', T, waiting);
    waiting.push({ type: 'input' });
    expect(state.execution?.waiting).toEqual([child]);
    expectDeeplyFrozen(state);
    expect(state.withExecutionStatus('inProgress', T).execution?.waiting).toEqual([]);
    expect(begun.withExecutionStatus('inProgress', T, [{ type: 'input' }])).toBe(begun);
    expect(begun.withExecutionStatus('suspended', T).execution?.waiting).toEqual([{ type: 'input' }]);
    expect(() => begun.withExecutionStatus('suspended', T, [])).toThrow(
      expect.objectContaining({ code: 'CONTEXT_INVALID' }),
    );
  });

  test('forNextExecution preserves identity, settings and context', () => {
    const next = furnished.withExecutionStatus('inProgress', T).withExecutionCompleted(T).forNextExecution(T);
    expect(next.context).toBe(furnished.context);
    expect([next.llmConfig, next.agentId, next.executionCount]).toEqual([furnished.llmConfig, AGENT, 1]);
    expect([next.status, next.stepCount, next.errors, next.usage.totalTokens]).toEqual([undefined, 0, [], 0]);
  });

  test('a rewritten conversation does not reset the step count', () => {
    const state = after(toolStep({ type: 'succeeded', value: 1 }), stepWith(answer()));
    expect([state.stepCount, state.withMessages([], T).stepCount]).toEqual([2, 2]);
  });

  test('duration is wall-clock time until the end', () => {
    const state = begun.withTimeWorked(1, T + 4_000);
    expect([state.executionDuration, state.executionDurationAt(T + 9_000)]).toEqual([0, 9]);
    const over = state.withExecutionCompleted(T + 5_000);
    expect([over.executionDuration, over.executionDurationAt(T + 9_000)]).toEqual([5, 5]);
    expect(state.execution?.workedSeconds).toBe(1);
  });

  describe('the duration of an execution in progress lasts to its latest event', () => {
    const [requested] = asks('call_1').toolCalls;
    if (requested === undefined) throw new TypeError('There is a call.');
    const intended = ToolExecution.create(requested);
    const started = intended.withStarted(T + 3_000);
    const inStep = begun.withCurrentStep(stepWith(asks('call_1')), T + 1_000);
    const withTool = (execution: ToolExecution): AgentState =>
      inStep.withCurrentStep((inStep.currentStep as AgentStep).withToolExecution(execution), T + 60_000);
    const waiting = intended.withApprovalRequested(T + 2_500);
    const rows: readonly (readonly [string, AgentState, seconds: number])[] = [
      ['no event', begun.withUserMessage('Hi', {}, T + 60_000), 0],
      ['a step', inStep.withMetadata('a', 1, T + 60_000), 1],
      ['a tool that was not started', withTool(intended), 1],
      ['a tool that waits for approval', withTool(waiting), 2.5],
      ['a tool that was approved', withTool(waiting.withDecision({ type: 'approved', at: T + 2_750 })), 2.75],
      ['a tool that was started', withTool(started), 3],
      [
        'a started tool with a second approval request',
        withTool(started.withApprovalRequested(T + 3_500)),
        3.5,
      ],
      ['a completed tool', withTool(started.withOutcome({ type: 'succeeded', value: 1 }, T + 4_000)), 4],
      ['a closed step', inStep.withCurrentStepCompleted(T + 5_000).withMetadata('a', 1, T + 60_000), 5],
    ];
    test.each(rows)('%s', (_, state, seconds) => {
      expect(state.executionDuration).toBe(seconds);
      expect(AgentState.fromJSON(JSON.parse(JSON.stringify(state))).executionDuration).toBe(seconds);
    });

    test('the clock of earlier changes has no effect', async () => {
      const clock = manualClock(T);
      const look = tool({
        name: 'look',
        description: 'Looks.',
        inputSchema: { type: 'object' },
        execute: () => clock.advance(500),
      });
      const loop = createAgentLoop({
        driver: scriptedDriver({ calls: { look: {} } }, 'Done.'),
        tools: [look],
        clock,
      });
      // The message comes from a machine whose clock is ten seconds ahead.
      const asked = blank.withUserMessage('Look.', {}, T + 10_000);
      const durations: number[] = [];
      for await (const state of loop.iterate(asked)) durations.push(state.executionDuration);
      expect(durations).toEqual([0.5, 0.5, 0.5]);
    });
  });

  test('a fork is another agent with the same context and no execution', () => {
    const other = '00000000-0000-4000-8000-00000000000b';
    const fork = done.fork({ agentId: other, at: T + 9 });
    expect([fork.agentId, fork.execution, fork.executionCount, fork.createdAt]).toEqual([
      other,
      undefined,
      0,
      T + 9,
    ]);
    expect(fork.context).toBe(done.context);
    const ids = [AGENT, ...[1, 2].map(() => done.fork({ at: T }).agentId)];
    expect(new Set(ids).size).toBe(3);
  });
});

describe('times', () => {
  test('fractions of a millisecond are dropped, so that every state can be read back', () => {
    const state = AgentState.empty({ at: T + 0.7 })
      .withCurrentStep(stepWith(answer()), T + 1.5)
      .withCurrentStepCompleted(T + 2.5);
    expect([state.createdAt, state.updatedAt, state.lastStepExecution?.startedAt]).toEqual([T, T + 2, T + 1]);
    expectRoundTrip(state.withExecutionCompleted(T + 3.5));
    expectRoundTrip(AgentState.empty({ at: -0 }));
    expect(ExecutionState.create({ at: 1.5 }).startedAt).toBe(1);
  });
  test.for([Number.NaN, Infinity, -Infinity, 1e300])('%d is not a time', (at) => {
    expect(() => AgentState.empty({ at })).toThrow(expect.objectContaining({ code: 'ARGUMENT_INVALID' }));
    expect(() => blank.withSystemPrompt('x', at)).toThrow(
      expect.objectContaining({ code: 'ARGUMENT_INVALID' }),
    );
    expect(() => begun.withCurrentStep(stepWith(), at)).toThrow(
      expect.objectContaining({ code: 'ARGUMENT_INVALID' }),
    );
    expect(() => running.withCurrentStepCompleted(at)).toThrow(
      expect.objectContaining({ code: 'ARGUMENT_INVALID' }),
    );
    expect(() => begun.withExecutionCompleted(at)).toThrow(
      expect.objectContaining({ code: 'ARGUMENT_INVALID' }),
    );
  });
});

describe('shouldStop and its explanation', () => {
  const [none, one] = [Continuation.empty, Continuation.empty.withSignal(stopSignal({ reason: 'unknown' }))];
  const rows: readonly (readonly [Continuation, boolean, stop: boolean, words: string])[] = [
    [none, false, true, 'stop: nothing left to do'],
    [none, true, false, 'continue: tools requested'],
    [none.withRequested(), false, false, 'continue: another step requested'],
    [none.withRequested(), true, false, 'continue: another step requested'],
    [one, false, true, 'stop: unknown'],
    [one, true, true, 'stop: unknown'],
    [one.withRequested(), false, false, 'continue: another step requested'],
    [one.withRequested(), true, false, 'continue: another step requested'],
  ];
  test.for(rows)('%o, tool calls: %s → stop: %s', ([continuation, asked, stop, words]) => {
    expect(continuation.shouldStop(asked)).toBe(stop);
    expect(continuation.explain(asked)).toBe(words);
  });

  const states: readonly (readonly [name: string, state: AgentState, stop: boolean, words: string])[] = [
    ['before any step', begun, false, 'continue: no step yet'],
    ['before any step, with a signal', raise(begun, 'userRequested'), true, 'stop: userRequested'],
    [
      'in a step with tool calls',
      begun.withCurrentStep(stepWith(asks('a')), T),
      false,
      'continue: tools requested',
    ],
    [
      'in a step with a final response',
      begun.withCurrentStep(stepWith(answer()), T),
      true,
      'stop: nothing left to do',
    ],
    ['after a step with tool calls', after(stepWith(asks('a'))), false, 'continue: tools requested'],
    ['after a final response', after(stepWith(answer())), true, 'stop: nothing left to do'],
    [
      'after a final response, with another step requested',
      after(stepWith(answer())).withContinuationRequested(T),
      false,
      'continue: another step requested',
    ],
    ['after tools, with a signal', raise(after(stepWith(asks('a'))), 'unknown'), true, 'stop: unknown'],
    [
      'with a signal and another step requested',
      raise(begun, 'unknown').withContinuationRequested(T),
      false,
      'continue: another step requested',
    ],
    [
      'the requested step has started',
      raise(begun, 'unknown')
        .withContinuationRequested(T)
        .withCurrentStep(stepWith(asks('a')), T),
      true,
      'stop: unknown',
    ],
  ];
  test.for(states)('%s', ([, state, stop, words]) => {
    expect(state.shouldStop).toBe(stop);
    expect(state.debug().continuation).toBe(words);
  });

  test('the next step consumes a request; the closed step records it', () => {
    const asked = after(stepWith(asks('a'))).withContinuationRequested(T);
    const next = asked.withCurrentStep(stepWith(), T);
    expect([asked.execution?.continuation.isRequested, next.execution?.continuation.isRequested]).toEqual([
      true,
      false,
    ]);
    const closed = begun
      .withCurrentStep(stepWith(), T)
      .withContinuationRequested(T)
      .withCurrentStepCompleted(T);
    expect([
      closed.lastStepExecution?.continuation.isRequested,
      closed.lastStepExecution?.shouldStop,
    ]).toEqual([true, false]);
    expect(closed.execution?.continuation.isRequested).toBe(true);
  });

  test('all signals stay, in order', () => {
    const state = raise(begun, 'completed', 'userRequested', 'completed')
      .withCurrentStep(stepWith(), T)
      .withCurrentStepCompleted(T);
    expect(state.execution?.continuation.signals.map(({ reason }) => reason)).toEqual([
      'completed',
      'userRequested',
      'completed',
    ]);
    expect(state.execution?.continuation.overruledSignals).toBe(3);
    expect(raise(state, 'unknown').execution?.continuation.hasNewSignals).toBe(true);
  });
});

describe('signals', () => {
  const ranks: readonly (readonly [StopReason, number, forced: boolean])[] = [
    ['errorForbade', 0, true],
    ['stopRequested', 1, true],
    ['stepsLimitReached', 2, true],
    ['tokenLimitReached', 3, true],
    ['timeLimitReached', 4, true],
    ['costLimitReached', 4, true],
    ['retryLimitReached', 5, true],
    ['finishReasonReceived', 6, false],
    ['userRequested', 7, true],
    ['completed', 8, false],
    ['unknown', 9, true],
  ];
  test.for(ranks)('%s has rank %i; forced: %s', ([reason, rank, forced]) => {
    expect(STOP_REASON_RANK[reason]).toBe(rank);
    expect(isForceStop(stopSignal({ reason }))).toBe(forced);
    expect(raise(begun, reason).execution?.continuation.wasForceStopped).toBe(forced);
  });
  test('the table lists every stop reason', () =>
    expect(Object.keys(STOP_REASON_RANK)).toEqual(ranks.map(([reason]) => reason)));

  const highest: readonly (readonly [readonly StopReason[], StopReason | undefined])[] = [
    [[], undefined],
    [['unknown'], 'unknown'],
    [['unknown', 'completed', 'userRequested'], 'userRequested'],
    [['costLimitReached', 'timeLimitReached'], 'costLimitReached'],
    [['timeLimitReached', 'costLimitReached'], 'timeLimitReached'],
    [['completed', 'errorForbade', 'stopRequested'], 'errorForbade'],
  ];
  test.for(highest)('the highest of %j is %s', ([reasons, reason]) => {
    const state = raise(begun, ...reasons);
    expect([state.stopReason, state.lastStopReason, state.stopSignal?.reason]).toEqual([
      reason,
      reason,
      reason,
    ]);
  });
  test('the first of equal signals is the highest', () => {
    const state = begun
      .withStopSignal({ reason: 'timeLimitReached', message: 'first' }, T)
      .withStopSignal({ reason: 'timeLimitReached', message: 'second' }, T);
    expect(state.stopSignal?.message).toBe('first');
  });
  test('a signal is a frozen copy, and its context is JSON', () => {
    const context = { limit: [1], at: new Date(0) };
    const state = begun.withStopSignal({ reason: 'unknown', message: '', context: context as never }, T);
    context.limit.push(2);
    expect(state.stopSignal?.context).toEqual({ limit: [1], at: '1970-01-01T00:00:00.000Z' });
    expectRoundTrip(state);
  });
  test('an unknown reason is refused', () => {
    for (const reason of ['bored', '__proto__', 'constructor', undefined]) {
      expect(() => stopSignal({ reason: reason as never })).toThrow(
        expect.objectContaining({ code: 'ARGUMENT_INVALID' }),
      );
    }
  });
});

describe('the start of an execution', () => {
  const ID = '00000000-0000-4000-8000-00000000000c' as ExecutionId;
  test('uses the given id and time', () => {
    const started = blank.withExecutionStarted(T + 3, ID);
    expect([started.executionId, started.execution?.startedAt, started.status]).toEqual([
      ID,
      T + 3,
      'inProgress',
    ]);
    expect([started.executionCount, started.debug().hasExecution]).toEqual([1, true]);
    expect(started.withExecutionStarted(T + 4).executionId).toBe(ID);
    const next = started.withExecutionCompleted(T + 4).withExecutionStarted(T + 5);
    expect([next.executionId === ID, next.execution?.startedAt, next.executionCount]).toEqual([
      false,
      T + 5,
      2,
    ]);
  });
  test('a request for another step can be withdrawn', () => {
    const asked = begun.withContinuationRequested(T);
    expect([asked.shouldStop, asked.withoutContinuationRequested(T).execution?.continuation]).toEqual([
      false,
      Continuation.empty,
    ]);
    expect(begun.withoutContinuationRequested(T + 1)).toBe(begun);
    expect(blank.withoutContinuationRequested(T + 1)).toBe(blank);
  });
  test('time worked adds up and never decreases', () => {
    const worked = begun.withTimeWorked(2, T).withTimeWorked(3, T).withTimeWorked(-4, T);
    expect(worked.execution?.workedSeconds).toBe(5);
    expect(blank.withTimeWorked(1, T)).toBe(blank);
  });
  test('adding no usage returns the same state', () => {
    expect(begun.withOtherUsage(Usage.none, T + 1)).toBe(begun);
  });
  test('a state without an execution has no derived values', () => {
    expect([blank.lastStepType, blank.stopSignal, blank.errors]).toEqual([undefined, undefined, []]);
  });
  test('a document contains the execution, unless it is omitted', () => {
    expect(begun.toJSON({})).toEqual(begun.toJSON());
    expect(begun.toJSON()).toHaveProperty('execution');
    expect(begun.toJSON({ execution: 'omit' })).not.toHaveProperty('execution');
  });
});

describe('the end of an execution', () => {
  test('a failed execution stays failed, with or without an error', () => {
    const failure = begun.withExecutionStatus('failed', T + 1);
    expect(failure.withExecutionCompleted(T + 2)).toBe(failure);
  });
  const failedTool = toolStep({ type: 'failed', error: someError });
  const rows: readonly (readonly [name: string, state: AgentState, status: ExecutionStatus])[] = [
    ['a final response', after(stepWith(answer())), 'completed'],
    ['no step at all', begun, 'completed'],
    ['an error outside any step', begun.withError('no', T), 'failed'],
    ['an error in the open step', begun.withCurrentStep(stepWith(), T).withError('no', T), 'failed'],
    ['an error in the last step', after(stepWith().withError(someError)), 'failed'],
    [
      'an error that a later step recovered from',
      after(stepWith().withError(someError), stepWith(answer())),
      'completed',
    ],
    ['a failed tool in the last step', after(failedTool), 'completed'],
    ['a failed tool before the final response', after(failedTool, stepWith(answer())), 'completed'],
    ['an error and a stop', raise(begun.withError('no', T), 'stopRequested'), 'failed'],
    ['errorForbade', raise(begun, 'errorForbade'), 'failed'],
    ['errorForbade among other reasons', raise(begun, 'completed', 'errorForbade'), 'failed'],
    ['a limit', raise(begun, 'stepsLimitReached'), 'stopped'],
    ['a limit and the reason completed', raise(begun, 'completed', 'stepsLimitReached'), 'stopped'],
    ['the reason completed', raise(begun, 'completed'), 'completed'],
    [
      "a finish reason that outranks a user's request",
      raise(begun, 'userRequested', 'finishReasonReceived'),
      'completed',
    ],
  ];
  test.for(rows)('%s', ([, state, status]) => {
    const ended = state.withExecutionCompleted(T + 9);
    expect([ended.status, ended.execution?.completedAt]).toEqual([status, T + 9]);
    expectRoundTrip(ended);
  });
  test('withFailure sets the status failed and closes the open step', () => {
    const state = running.withFailure(Object.assign(new Error('no'), { code: 'E' }), T + 9);
    expect([state.status, state.steps.length, state.currentStep, state.lastStep?.errors[0]?.code]).toEqual([
      'failed',
      2,
      undefined,
      'E',
    ]);
  });
});

describe('responses', () => {
  const parts: AssistantPart[] = [
    { type: 'reasoning', text: 'hm' },
    { type: 'text', text: 'a' },
    { type: 'text', text: 'b' },
  ];
  const cut = InferenceResponse.of({ text: 'hal', finishReason: 'aborted' });
  const rows: readonly (readonly [
    name: string,
    state: AgentState,
    final: string | undefined,
    current: string | undefined,
  ])[] = [
    ['no step', begun, undefined, undefined],
    ['a final response', after(stepWith(answer())), 'Hi', 'Hi'],
    ['a final response of many parts', after(stepWith(InferenceResponse.of({ content: parts }))), 'ab', 'ab'],
    ['an empty final response', after(stepWith(answer(''))), '', ''],
    ['tools', after(stepWith(asks('a'))), undefined, ''],
    ['an open step', begun.withCurrentStep(stepWith(answer('on'))), undefined, 'on'],
    ['aborted before a response', after(stepWith()), undefined, ''],
    ['aborted during a response', after(stepWith(cut)), undefined, 'hal'],
    ['a response with an error', after(stepWith(answer()).withError(someError)), undefined, 'Hi'],
  ];
  test.for(rows)('%s', ([, state, final, current]) => {
    expect([state.hasFinalResponse, state.finalResponse, state.currentResponse]).toEqual([
      final !== undefined,
      final,
      current,
    ]);
  });
});

test('accessors return the steps and tools of the execution', () => {
  const first = toolStep({ type: 'succeeded', value: 1 });
  const state = after(first, stepWith(answer()));
  expect(state.steps.map(({ id }) => id)).toEqual([first.id, state.lastStep?.id]);
  expect(state.stepExecutions.at(0)?.id).toBe(first.id);
  expect([state.lastStepType, state.lastStepExecution?.duration]).toEqual(['finalResponse', 0.001]);
  expect(state.lastToolExecution?.value).toBe(1);
  expect(state.withCurrentStep(toolStep({ type: 'succeeded', value: 2 }), T).lastToolExecution?.value).toBe(
    2,
  );
  expect(state.withCurrentStep(stepWith(), T).lastToolExecution?.value).toBe(1);
  const later = after(first, toolStep({ type: 'succeeded', value: 2 }), stepWith(answer()));
  expect(later.lastToolExecution?.value).toBe(2);
  expect([begun.lastToolExecution, begun.lastStepType]).toEqual([undefined, undefined]);
  const mixed = toolStep({ type: 'succeeded', value: 1 }).withError(someError);
  expect([first.hasErrors, mixed.hasErrors, after(first).hasErrors, after(mixed).hasErrors]).toEqual([
    false,
    true,
    false,
    true,
  ]);
  expect(first.executedToolCalls).toEqual(first.requestedToolCalls);
  expect(first.withToolExecution(first.toolExecutions[0] as ToolExecution)).toBe(first);
  expect(mixed.withResponse(mixed.response as InferenceResponse)).toBe(mixed);
  expect(state.usage.toJSON()).toEqual({
    inputTokens: 1,
    outputTokens: 2,
    unreportedCalls: 1,
    unpricedCalls: 2,
  });
});

test('errors are those of steps, tools and the execution, in order', () => {
  const state = after(
    toolStep({ type: 'failed', error: { name: 'E', message: '1' } }),
    stepWith().withError({ name: 'E', message: '2' }),
  )
    .withError('4', T)
    .withCurrentStep(stepWith().withError({ name: 'E', message: '3' }), T);
  expect(state.errors.map((one) => one.message)).toEqual(['1', '2', '3', '4']);
  expect(state.debug().errors).toEqual(['1', '2', '3', '4']);
});

test('a step with another id starts when no step is open, a step with the same id replaces the open step', () => {
  const step = stepWith();
  const state = begun.withCurrentStep(step, T + 1).withCurrentStep(step.withResponse(answer()), T + 5);
  expect([state.execution?.currentStepStartedAt, state.currentStep?.text]).toEqual([T + 1, 'Hi']);
  const other = AgentStep.create(List.empty(), StepId.create());
  expect(() => state.withCurrentStep(other, T + 7)).toThrow(
    expect.objectContaining({ code: 'ARGUMENT_INVALID', message: expect.stringContaining('is open') }),
  );
  const closed = state.withCurrentStepCompleted(T + 6);
  expect(closed.withCurrentStep(other, T + 7).execution?.currentStepStartedAt).toBe(T + 7);
});

test('a closed step adds tagged copies to the conversation and has untagged output', () => {
  const close = (step: AgentStep) =>
    begun
      .withCurrentStep(step.withOutput(newStepMessageIds(steppedClock()), T), T)
      .withCurrentStepCompleted(T);
  const work = close(toolStep({ type: 'succeeded', value: 1 }));
  const tags = { step_id: work.lastStep?.id, execution_id: work.executionId, agent_id: AGENT };
  expect(work.messages.toArray().map(({ role, metadata }) => [role, metadata])).toEqual([
    ['assistant', { ...tags, is_trace: true }],
    ['tool', { ...tags, is_trace: true }],
  ]);
  expect(work.lastStep?.output.map(({ metadata }) => metadata)).toEqual([undefined, undefined]);
  const said = close(stepWith(answer()));
  expect(said.messages.at(0)?.metadata).toEqual({
    step_id: said.lastStep?.id,
    execution_id: said.executionId,
    agent_id: AGENT,
  });
  expectRoundTrip(work);
});

test('a step that is closed in two branches of one state is stored once in each', () => {
  const open = begun.withCurrentStep(
    stepWith(answer('x'.repeat(1_000))).withOutput(newStepMessageIds(steppedClock()), T),
    T,
  );
  const [left, right] = [open.withCurrentStepCompleted(T), open.withCurrentStepCompleted(T)];
  expect(JSON.stringify(left).length).toBeLessThan(2_000);
  expect(JSON.stringify(right)).toBe(JSON.stringify(left));
});

test('unfrozen messages are copied, invalid messages are refused', () => {
  const open = { id: message.id, role: 'user' as const, content: [{ type: 'text' as const, text: 'a' }] };
  const state = blank.withMessages([open], T).withMessageStore(blank.store.append('summary', [open]), T);
  open.content.push({ type: 'text', text: 'b' });
  expectRoundTrip(blank.withMessages([open], T));
  expect(state.store.section('summary').at(0)?.content).toHaveLength(1);
  expect(() => blank.withMessages([{ id: message.id, role: 'user', content: 'text' } as never], T)).toThrow(
    expect.objectContaining({ code: 'CONTEXT_INVALID' }),
  );
});

describe('metadata', () => {
  const customer = metadataKey<string>('customer');
  test('metadata of a successful tool is set when its step closes', () => {
    const facts = { a: { b: 1 }, customer: 'ben' };
    const step = toolStep({ type: 'succeeded', value: 1, metadata: facts });
    const open = begun.withMetadata(customer, 'ann', T).withMetadata('c', 2, T).withCurrentStep(step, T);
    expect(open.metadata.values).toEqual({ customer: 'ann', c: 2 });
    const closed = open.withCurrentStepCompleted(T);
    expect(closed.metadata.values).toEqual({ customer: 'ben', c: 2, a: { b: 1 } });
    expectRoundTrip(closed);
    const silent = toolStep({ type: 'succeeded', value: 1, metadata: {} });
    expect(silent.toolExecutions[0]?.outcome).toEqual({ type: 'succeeded', value: 1 });
    expect(after(silent, toolStep({ type: 'failed', error: someError })).metadata).toBe(blank.metadata);
  });
  test('a value is removed, an absent value stays absent', () => {
    const state = blank.withMetadata(customer, 'ann', T).withMetadata('a', 1, T);
    const without = state.withoutMetadata(customer, T + 1);
    expect([without.metadata.has(customer), without.metadata.get('a'), without.updatedAt]).toEqual([
      false,
      1,
      T + 1,
    ]);
    expect(without.withoutMetadata(customer, T + 2)).toBe(without);
    expect(without.withoutMetadata('a', T + 2).metadata).toBe(blank.metadata);
    expect(without.withMetadata('a', 2, T + 2).metadata.get('a')).toBe(2);
  });
  test('keys are typed, and two keys with one name are the same key', () => {
    const state = blank.withMetadata(customer, 'Ada', T);
    const name: string | undefined = state.metadata.get(customer);
    expect([name, state.metadata.get('customer'), state.metadata.has(metadataKey('customer'))]).toEqual([
      'Ada',
      'Ada',
      true,
    ]);
    // @ts-expect-error: the key holds a string
    state.withMetadata(customer, 1, T);
  });

  test.for(['__proto__', 'constructor', 'toString', 'hasOwnProperty', ''])('%j is an ordinary key', (key) => {
    expect([blank.metadata.get(key), blank.metadata.has(key)]).toEqual([undefined, false]);
    const state = expectRoundTrip(blank.withMetadata(key, { polluted: true }, T).withMetadata('other', 1, T));
    expect(state.metadata.get(key)).toEqual({ polluted: true });
    expect(Object.getPrototypeOf(state.metadata.values)).toBe(Object.prototype);
    expect(state.metadata.without(key).get(key)).toBeUndefined();
    expect(state.metadata.without(key).get('other')).toBe(1);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test('later changes of the caller do not affect the state', () => {
    const value = { list: [1] };
    const state = blank.withMetadata('a', value, T);
    value.list.push(2);
    expect(state.metadata.get('a')).toEqual({ list: [1] });
    expectDeeplyFrozen(state);
  });
});

test('model settings that are unknown or not JSON are refused', () => {
  for (const config of [
    { apiKey: 'secret' },
    { model: 5 },
    { temperature: Number.NaN },
    { maxOutputTokens: -1 },
    'gpt',
  ]) {
    expect(() => blank.withLlmConfig(config as never, T)).toThrow(
      expect.objectContaining({ code: 'CONTEXT_INVALID' }),
    );
  }
});
