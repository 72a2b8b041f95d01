import { AgentStep, ToolExecution, type AgentState, type ToolOutcome, type Waiting } from '@holdfast/core';
import { InferenceResponse } from '@holdfast/core/driver';
import { newStepMessageIds, SessionId, StepId, ToolExecutionId } from '@holdfast/core/engine';
import { START, testClock } from './store-case.ts';

const clock = testClock();
const at = (seconds: number): number => START + seconds * 1_000;

function response(tools: readonly string[], text: string): InferenceResponse {
  return InferenceResponse.of({
    content: [
      { type: 'reasoning', text: 'Let me see.', providerOptions: { tester: { signature: 'c2ln' } } },
      ...(text === '' ? [] : [{ type: 'text' as const, text }]),
      ...tools.map((toolName, index) => ({
        type: 'tool-call' as const,
        toolCallId: `call-${toolName}-${index}`,
        toolName,
        input: { city: 'Oslo' },
      })),
    ],
    usage: { inputTokens: 100, outputTokens: 20, cost: 0.01 },
    modelId: 'tester-1',
    responseId: 'r-1',
  });
}

function step(state: AgentState, tools: readonly string[], text = ''): AgentStep {
  return AgentStep.create(state.messages, StepId.create(clock)).withResponse(response(tools, text));
}

/** A step with a tool execution for each call. It has the given outcome, or still runs. */
function withTools(step: AgentStep, outcomes: readonly (ToolOutcome | undefined)[]): AgentStep {
  return step.requestedToolCalls.reduce((result, call, index) => {
    const started = ToolExecution.start(call, at(1), ToolExecutionId.create(clock));
    const outcome = outcomes[index];
    return result.withToolExecution(outcome ? started.withOutcome(outcome, at(2)) : started);
  }, step);
}

function begun(state: AgentState): AgentState {
  return state
    .withUserMessage('How warm is it in Oslo?', { id: '20000000-0000-4000-8000-000000000001' }, at(0))
    .withExecutionStatus('inProgress', at(0));
}

/** A state in its first step, whose tool call still runs. */
export function stateInStep(state: AgentState): AgentState {
  const running = begun(state);
  return running.withCurrentStep(withTools(step(running, ['weather']), [undefined]), at(1));
}

/** A state with a completed execution: two steps with tool executions of every outcome, then a final response. */
export function stateAfterSteps(state: AgentState): AgentState {
  const error = { name: 'Error', message: 'No.', code: 'TOOL_FAILED', data: { status: 503 } };
  const running = begun(state);
  const first = withTools(step(running, ['weather', 'clock', 'map']), [
    { type: 'succeeded', value: { degrees: 21, exact: null } },
    { type: 'failed', error },
    { type: 'denied', error: { name: 'Error', message: 'A person said no.' } },
  ]);
  const afterFirst = close(running, first, 2);
  const second = withTools(step(afterFirst, ['weather']), [{ type: 'interrupted', error }]);
  const afterSecond = close(afterFirst, second, 4);
  return close(afterSecond, step(afterSecond, [], 'It is 21 °C.'), 6)
    .withStopSignal({ reason: 'completed', message: 'done', context: { steps: 3 } }, at(7))
    .withTimeWorked(6.5, at(7))
    .withExecutionCompleted(at(7));
}

function close(state: AgentState, step: AgentStep, second: number): AgentState {
  return state
    .withCurrentStep(step.withOutput(newStepMessageIds(clock), at(second)), at(second))
    .withCurrentStepCompleted(at(second + 1));
}

const TOOL_EXECUTION = ToolExecutionId.parse('40000000-0000-4000-8000-000000000001');

/** The instant at which executions that wait for one continue. */
export const WAKE_AT = START + 3_600_000;

/** One list for each type of waiting. */
export const WAITINGS = {
  approval: [{ type: 'approval', toolExecutionId: TOOL_EXECUTION }],
  answer: [{ type: 'answer', toolExecutionId: TOOL_EXECUTION, until: WAKE_AT }],
  until: [{ type: 'until', until: WAKE_AT }],
  retry: [{ type: 'retry', error: { name: 'DriverError', message: 'Too many requests.' }, until: WAKE_AT }],
  child: [{ type: 'child', sessionId: SessionId.parse('child'), toolExecutionId: TOOL_EXECUTION }],
  input: [{ type: 'input' }],
} as const satisfies Record<Waiting['type'], readonly Waiting[]>;

/** A state with a suspended execution. */
export function stateWaiting(state: AgentState, waiting: readonly Waiting[]): AgentState {
  const running = state.hasActiveExecution ? state : begun(state);
  return running.withExecutionStatus('suspended', at(1), waiting);
}

/** A state in a step whose tool executions are in every stage. */
export function stateAmongTools(state: AgentState): AgentState {
  const running = begun(state);
  const asked = step(running, ['planned', 'asking', 'allowed', 'denied', 'again', 'done']);
  const made = asked.requestedToolCalls.map((call) =>
    ToolExecution.create(call, ToolExecutionId.create(clock)),
  );
  const [planned, asking, allowed, denied, again, done] = made as [
    ToolExecution,
    ToolExecution,
    ToolExecution,
    ToolExecution,
    ToolExecution,
    ToolExecution,
  ];
  const decided = { at: at(2), by: 'Ada', reason: 'Because.' };
  const executions = [
    planned,
    asking.withApprovalRequested(at(1)),
    allowed
      .withApprovalRequested(at(1))
      .withDecision({ type: 'approved', ...decided })
      .withStarted(at(3)),
    denied.withApprovalRequested(at(1)).withDecision({ type: 'denied', ...decided }),
    again.withStarted(at(1)).withProgress({ page: 7 }).withNextAttempt(at(2)),
    done.withStarted(at(1)).withOutcome({ type: 'succeeded', value: null, metadata: { seen: true } }, at(2)),
  ];
  const inStep = executions.reduce((result, execution) => result.withToolExecution(execution), asked);
  return running.withCurrentStep(inStep, at(1));
}

/** Adds a closed step to a running execution: a call, its result, and 1 KB of text. */
export function nextStep(state: AgentState): AgentState {
  const running = state.hasActiveExecution ? state : begun(state);
  const outcome = { type: 'succeeded', value: { report: 'x'.repeat(500) } } as const;
  return close(running, withTools(step(running, ['weather'], 'y'.repeat(500)), [outcome]), 2);
}

/** A state with an execution of this many steps. */
export function stateOfSteps(state: AgentState, count: number): AgentState {
  let running = state;
  for (let done = 0; done < count; done++) running = nextStep(running);
  return running;
}
