import type { Instant } from '../clock.ts';
import { checkedCopy } from '../document.ts';
import { describeValue, invalidArgument } from '../errors.ts';
import type { AgentState } from '../state/agent-state.ts';
import { requireState } from '../state/require-state.ts';
import { some } from '../state/values/frozen-array.ts';
import type { ExecutionId, StepId, ToolExecutionId } from '../state/values/ids.ts';
import type { FinishReason, InferenceResponse } from '../state/inference/inference-response.ts';
import type { ExecutionFallback } from '../state/inference/fallback.ts';
import type { InferenceFailure } from '../state/inference/inference-failure.ts';
import { waitingForRetry } from '../state/inference/inference-failure.ts';
import type { Messages, ToolCallPart } from '../state/messages/messages.ts';
import type { EffectiveRequest } from '../state/inference/request.ts';
import { isSameSettings, NO_SETTINGS } from '../state/inference/request.ts';
import { readLlmConfig } from '../state/llm-config.ts';
import type { StepMessageIds } from '../state/execution/step-output.ts';
import { AgentStep } from '../state/execution/step.ts';
import type { ToolExecution } from '../state/execution/tool-execution.ts';
import type { Waiting } from '../state/execution/waiting.ts';

/**
 * What is to be done with a state.
 *
 * - `start`: take the execution up (there is none, or nobody works on it yet)
 * - `beginStep`: nothing is in progress and nothing speaks for stopping
 * - `infer`: the current step has its input and no answer
 * - `resolveTools`: these were started by a process that is gone, and nobody knows how they ended
 * - `runTools`: these calls were not begun, and nobody needs to be asked about them any more
 * - `closeStep`: the current step has all it will get
 * - `wait`: the execution is suspended, or is to be: all that the step still lacks are decisions
 * - `finish`: the execution is over but for its terminal status
 * - `none`: it is over
 */
export type NextAction =
  | { readonly type: 'start' | 'finish' | 'none' }
  | { readonly type: 'beginStep' | 'infer' | 'closeStep' }
  | { readonly type: 'runTools'; readonly calls: readonly ToolCallPart[] }
  | { readonly type: 'resolveTools'; readonly toolExecutions: readonly ToolExecution[] }
  | { readonly type: 'wait'; readonly waiting: readonly Waiting[] };

/** What came of doing it. */
export type StepperOutcome =
  /** The id is that of the execution if a new one begins. */
  | { readonly type: 'started'; readonly executionId: ExecutionId; readonly at: Instant }
  | { readonly type: 'stepBegun'; readonly stepId: StepId; readonly input: Messages; readonly at: Instant }
  /** The model is shown something else than what the step began with. */
  | { readonly type: 'inputChanged'; readonly input: Messages; readonly at: Instant }
  /** The model is called with something else than the state says, or than was said before. */
  | { readonly type: 'requestChanged'; readonly request: EffectiveRequest; readonly at: Instant }
  | { readonly type: 'inferred'; readonly response: InferenceResponse; readonly at: Instant }
  /** The model was called and gave no usable answer: the call is to be repeated. */
  | {
      readonly type: 'inferenceFailed';
      readonly failure: InferenceFailure;
      /** The model to call instead of the agent's own; absent: the agent's own. */
      readonly fallback?: ExecutionFallback | undefined;
      readonly at: Instant;
    }
  /** The failed call of the model is repeated now. */
  | { readonly type: 'inferenceRetried'; readonly at: Instant }
  /** A tool was started, or has ended: `outcome` tells which. */
  | { readonly type: 'toolAdvanced'; readonly toolExecution: ToolExecution; readonly at: Instant }
  /** Several tool calls advanced, as one change. */
  | {
      readonly type: 'toolsAdvanced';
      readonly toolExecutions: readonly ToolExecution[];
      readonly at: Instant;
    }
  /** Something threw. It does not end the execution by itself: close what is open and finish. */
  | { readonly type: 'failed'; readonly error: unknown; readonly at: Instant }
  /** The ids are for the messages that the step adds; the seconds are those worked since they were counted last. */
  | {
      readonly type: 'stepClosed';
      readonly messageIds: StepMessageIds;
      readonly workedSeconds?: number;
      readonly at: Instant;
    }
  /** Nothing can be done until somebody, or the time, has its say. */
  | { readonly type: 'suspended'; readonly waiting: readonly Waiting[]; readonly at: Instant }
  | { readonly type: 'finished'; readonly at: Instant };

/** Tools run only for an answer that ended for one of these reasons. */
const RUNS_TOOLS: ReadonlySet<FinishReason> = new Set(['stop', 'tool-calls']);

const START: NextAction = Object.freeze({ type: 'start' });
const BEGIN_STEP: NextAction = Object.freeze({ type: 'beginStep' });
const INFER: NextAction = Object.freeze({ type: 'infer' });
const CLOSE_STEP: NextAction = Object.freeze({ type: 'closeStep' });
const FINISH: NextAction = Object.freeze({ type: 'finish' });
const NONE: NextAction = Object.freeze({ type: 'none' });

/**
 * What to do next. Pure: it follows from the state alone, in any process.
 * @throws TypeError `ARGUMENT_INVALID` for what is not a state.
 */
export function nextAction(state: AgentState): NextAction {
  requireState(state, 'nextAction');
  const { execution } = state;
  if (execution === undefined || execution.status === 'pending') return START;
  if (execution.isTerminal) return NONE;
  if (execution.status === 'suspended') return { type: 'wait', waiting: execution.waiting };
  if (execution.currentStep) return nextInStep(execution.currentStep, execution.continuation.hasNewSignals);
  return execution.hasUnresolvedErrors || execution.shouldStop ? FINISH : BEGIN_STEP;
}

function nextInStep(step: AgentStep, isToldToStop: boolean): NextAction {
  const toolExecutions = step.toolExecutions;
  if (some(toolExecutions, isInDoubt))
    return { type: 'resolveTools', toolExecutions: toolExecutions.filter(isInDoubt) };
  if (step.errors.length > 0 || isToldToStop) return CLOSE_STEP;
  if (step.response === undefined) {
    const { pendingRetry } = step;
    return pendingRetry ? { type: 'wait', waiting: [waitingForRetry(pendingRetry)] } : INFER;
  }
  if (!RUNS_TOOLS.has(step.response.finishReason)) return CLOSE_STEP;
  const calls = step.callsToRun;
  if (calls.length > 0) return { type: 'runTools', calls };
  if (!some(toolExecutions, isWaiting)) return CLOSE_STEP;
  return { type: 'wait', waiting: toolExecutions.flatMap(waitingOfCall) };
}

/** What a call waits for: a decision, or whatever a subagent waits for that it is. */
export function waitingOfCall(execution: ToolExecution): readonly Waiting[] {
  if (execution.isAwaitingApproval) return [{ type: 'approval', toolExecutionId: execution.id }];
  return execution.waitingInside;
}

function isWaiting(execution: ToolExecution): boolean {
  return execution.isAwaitingApproval || execution.waitingInside.length > 0;
}

/** Was it started, and does it wait for nobody? */
function isInDoubt(execution: ToolExecution): boolean {
  return execution.isRunning && !isWaiting(execution);
}

/** May tools of the current step be started? They may run already. */
export function canRunTools({ execution }: AgentState): boolean {
  const step = execution?.currentStep;
  if (execution === undefined || step?.response === undefined) return false;
  if (execution.status !== 'inProgress' || step.errors.length > 0) return false;
  return !execution.continuation.hasNewSignals && RUNS_TOOLS.has(step.response.finishReason);
}

/**
 * The state after an action came to an outcome. Pure.
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for an id that something before has, what is not a state, and an outcome
 * of an unknown type.
 */
export function applyOutcome(state: AgentState, outcome: StepperOutcome): AgentState {
  requireState(state, 'applyOutcome');
  if (typeof outcome !== 'object' || outcome === null) throw unknownOutcome(outcome);
  return applyChecked(state, outcome, false);
}

/** The same. `hasNewIds`: the ids of the outcome were just made at random, and are not looked for. */
export function applyChecked(state: AgentState, outcome: StepperOutcome, hasNewIds: boolean): AgentState {
  const { at } = outcome;
  switch (outcome.type) {
    case 'started':
      return state.withExecutionStarted(at, outcome.executionId);
    case 'stepBegun':
      return withStep(state, AgentStep.create(outcome.input, outcome.stepId), at, hasNewIds);
    case 'inputChanged':
      return withStep(state, state.currentStep?.withInput(outcome.input), at);
    case 'requestChanged':
      return withEffectiveRequest(state, outcome.request, at);
    case 'inferred':
      if (state.currentStep === undefined) return withLateResponse(state, outcome.response, at);
      return withStep(state, state.currentStep.withResponse(outcome.response), at);
    case 'inferenceFailed':
      return withFailure(state, outcome.failure, outcome.fallback, at);
    case 'inferenceRetried':
      return withStep(state, state.currentStep?.withInferenceRetried(at), at);
    case 'toolAdvanced':
      if (state.currentStep === undefined) return withLateTools(state, [outcome.toolExecution], at);
      return withStep(state, state.currentStep.withToolExecution(outcome.toolExecution), at, hasNewIds);
    case 'toolsAdvanced':
      if (state.currentStep === undefined) return withLateTools(state, outcome.toolExecutions, at);
      return withStep(state, state.currentStep.withToolExecutions(outcome.toolExecutions), at, hasNewIds);
    case 'failed':
      return state.withError(outcome.error, at);
    case 'stepClosed':
      return state.withStepClosed(outcome.messageIds, at, outcome.workedSeconds);
    case 'suspended':
      return state.withExecutionStatus('suspended', at, outcome.waiting);
    case 'finished':
      return state.withExecutionCompleted(at);
    default:
      throw unknownOutcome((outcome as { readonly type: unknown }).type);
  }
}

function unknownOutcome(found: unknown): Error {
  return invalidArgument(
    `The type of an outcome is started, stepBegun, inputChanged, requestChanged, inferred, toolAdvanced, toolsAdvanced, failed, stepClosed, suspended or finished; found ${describeValue(found)}.`,
    TypeError,
  );
}

function withStep(
  state: AgentState,
  step: AgentStep | undefined,
  at: Instant,
  hasNewIds = false,
): AgentState {
  if (step === undefined) return state;
  return hasNewIds ? state.withNewStep(step, at) : state.withCurrentStep(step, at);
}

function withFailure(
  state: AgentState,
  failure: InferenceFailure,
  fallback: ExecutionFallback | undefined,
  at: Instant,
): AgentState {
  const { execution, currentStep } = state;
  if (execution === undefined || currentStep === undefined) return state;
  const failed = execution.withNewStep(currentStep.withInferenceFailure(failure), at);
  return state.withExecution(failed.withFallback(fallback), at);
}

/**
 * The step that is worked on: the open one. Of an execution that is over the last one: a hook may have ended it while an
 * answer or calls were under way, which still belong to its step.
 */
export function stepAtWork({ currentStep, execution }: AgentState): AgentStep | undefined {
  return currentStep ?? (execution?.isTerminal ? execution.lastStepExecution?.step : undefined);
}

/** The answer that came after a hook had ended the execution. */
function withLateResponse(state: AgentState, response: InferenceResponse, at: Instant): AgentState {
  const step = stepAtWork(state);
  if (step === undefined || step.response !== undefined) return state;
  return state.withLastStep(step.withResponse(response), at);
}

/** Calls that were started, or have ended, when a hook had ended the execution. */
function withLateTools(state: AgentState, executions: readonly ToolExecution[], at: Instant): AgentState {
  const step = stepAtWork(state);
  if (step === undefined) return state;
  const requested = new Set(step.requestedToolCalls.map(({ toolCallId }) => toolCallId));
  const late = executions.filter(
    ({ call, startedAt, outcome }) =>
      requested.has(call.toolCallId) && (startedAt !== undefined || outcome !== undefined),
  );
  return late.length === 0 ? state : state.withLastStep(step.withToolExecutions(late), at);
}

/** What a hook made of `base`, and what tools have said of progress and usage between `base` and `now`. */
export function rebaseToolChanges(
  now: AgentState,
  base: AgentState,
  changed: AgentState,
  at: Instant,
): AgentState {
  if (now === base) return changed;
  const isOver = changed.currentStep === undefined;
  let state = changed;
  for (const toolExecution of stepAtWork(now)?.toolExecutions ?? []) {
    const { id } = toolExecution;
    const was = executionIn(base, id);
    if (toolExecution === was) continue;
    const isHooks = executionIn(changed, id) !== was;
    // What ran when the hook ended the execution is marked as interrupted.
    if (!isHooks || (isOver && was?.isRunning))
      state = applyOutcome(state, { type: 'toolAdvanced', toolExecution, at });
  }
  return state;
}

function executionIn(state: AgentState, id: ToolExecutionId): ToolExecution | undefined {
  return stepAtWork(state)?.toolExecutions.find((execution) => execution.id === id);
}

/** The state with what the model of the open step is called with. */
function withEffectiveRequest(
  state: AgentState,
  { model, llmConfig, toolChoice }: EffectiveRequest,
  at: Instant,
): AgentState {
  const { currentStep: step, execution } = state;
  if (step === undefined) return state;
  const settings =
    llmConfig === undefined ? NO_SETTINGS : checkedCopy('LLM configuration', llmConfig, readLlmConfig);
  const isKnown = isSameSettings(settings, execution?.llmConfig ?? state.llmConfig);
  const request = {
    ...(!isKnown && { llmConfig: settings }),
    ...(model !== undefined && model !== settings.model && { model }),
    toolChoice,
  };
  return state.withNewStep(step.withRequest(request), at);
}
