import { checkArgument, checkedCopy, mustBe } from '../../arguments.ts';
import type { Instant } from '../../clock.ts';
import type { AgentState } from '../../state/agent-state.ts';
import { requireState } from '../../state/require-state.ts';
import { some } from '../../state/values/frozen-array.ts';
import type { ExecutionId, StepId, ToolExecutionId } from '../../state/values/ids.ts';
import type { FinishReason, InferenceResponse } from '../../state/inference/inference-response.ts';
import { type ExecutionFallback, readLlmConfig } from '../../state/inference/llm-config.ts';
import { waitingForRetry, type InferenceFailure } from '../../state/inference/inference-failure.ts';
import type { Messages, ToolCallPart } from '../../state/messages/messages.ts';
import { isSameSettings, NO_SETTINGS, type EffectiveRequest } from '../../state/inference/request.ts';
import type { StepMessageIds } from '../../state/execution/step-output.ts';
import { AgentStep, requireToolExecution } from '../../state/execution/step.ts';
import type { ToolExecution } from '../../state/tools/tool-execution.ts';
import type { Waiting } from '../../state/values/waiting.ts';

/**
 * The next action for a state.
 *
 * - `start`: start or resume the execution; it is absent or `pending`
 * - `beginStep`: begin a step; no step is open and no stop signal or error ends the execution
 * - `infer`: call the model; the current step has its input and no response
 * - `resolveTools`: resolve these calls in doubt, which a dead process started
 * - `runTools`: run these calls; they have not started and need no further approval
 * - `closeStep`: close the current step; it needs nothing more
 * - `wait`: suspend the execution, or leave it suspended; the current step needs only decisions, time or a retry
 * - `finish`: set the terminal status
 * - `none`: the execution is terminal
 */
export type NextAction =
  | { readonly type: 'start' | 'finish' | 'none' }
  | { readonly type: 'beginStep' | 'infer' | 'closeStep' }
  | { readonly type: 'runTools'; readonly calls: readonly ToolCallPart[] }
  | { readonly type: 'resolveTools'; readonly toolExecutions: readonly ToolExecution[] }
  | { readonly type: 'wait'; readonly waiting: readonly Waiting[] };

/** The result of an action, which `applyOutcome` applies to the state. */
export type StepperOutcome =
  /** `executionId` becomes the id of a new execution; a resumed execution retains its own. */
  | { readonly type: 'started'; readonly executionId: ExecutionId; readonly at: Instant }
  | { readonly type: 'stepBegun'; readonly stepId: StepId; readonly input: Messages; readonly at: Instant }
  /** A hook replaced the messages that the step began with. */
  | { readonly type: 'inputChanged'; readonly input: Messages; readonly at: Instant }
  /** The request differs from the settings of the state, or from the recorded request. */
  | { readonly type: 'requestChanged'; readonly request: EffectiveRequest; readonly at: Instant }
  | {
      readonly type: 'inferred';
      readonly response: InferenceResponse;
      /** The fingerprint of the request, for a response with reasoning. */
      readonly fingerprint?: string | undefined;
      readonly at: Instant;
    }
  /** The model gave no usable response, and the loop repeats the call. */
  | {
      readonly type: 'inferenceFailed';
      readonly failure: InferenceFailure;
      /** The model to call instead of the agent's own; the agent's own when absent. */
      readonly fallback?: ExecutionFallback | undefined;
      readonly at: Instant;
    }
  /** The loop repeats the failed call of the model now. */
  | { readonly type: 'inferenceRetried'; readonly at: Instant }
  /** Tool executions changed at the same time: each was started or completed, as its `outcome` shows. */
  | {
      readonly type: 'toolsAdvanced';
      readonly toolExecutions: readonly ToolExecution[];
      readonly at: Instant;
    }
  /**
   * A part of the loop threw. The error alone does not end the execution: the loop closes the open step and finishes.
   */
  | { readonly type: 'failed'; readonly error: unknown; readonly at: Instant }
  /**
   * `messageIds` are for the messages that the step adds. `workedSeconds` are the seconds worked since the last count.
   */
  | {
      readonly type: 'stepClosed';
      readonly messageIds: StepMessageIds;
      readonly workedSeconds?: number;
      readonly at: Instant;
    }
  /** The execution waits for a decision, an instant, a child or input. */
  | { readonly type: 'suspended'; readonly waiting: readonly Waiting[]; readonly at: Instant }
  | { readonly type: 'finished'; readonly at: Instant };

/** A member for each type, so that the compiler finds a missing one. */
const OUTCOME_TYPES: Readonly<Record<StepperOutcome['type'], true>> = {
  started: true,
  stepBegun: true,
  inputChanged: true,
  requestChanged: true,
  inferred: true,
  inferenceFailed: true,
  inferenceRetried: true,
  toolsAdvanced: true,
  failed: true,
  stepClosed: true,
  suspended: true,
  finished: true,
};
const OUTCOME_TYPE = mustBe.oneOf(Object.keys(OUTCOME_TYPES));

/** The finish reasons of a response whose tools run. */
const RUNS_TOOLS: ReadonlySet<FinishReason> = new Set(['stop', 'tool-calls']);

const START: NextAction = Object.freeze({ type: 'start' });
const BEGIN_STEP: NextAction = Object.freeze({ type: 'beginStep' });
const INFER: NextAction = Object.freeze({ type: 'infer' });
const CLOSE_STEP: NextAction = Object.freeze({ type: 'closeStep' });
const FINISH: NextAction = Object.freeze({ type: 'finish' });
const NONE: NextAction = Object.freeze({ type: 'none' });

/**
 * Returns the next action. Pure: the result depends on the state alone, in any process.
 * @throws TypeError `ARGUMENT_INVALID` for a value that is not a state.
 */
export function nextAction(state: AgentState): NextAction {
  requireState(state, 'nextAction');
  return nextActionOf(state);
}

/** The part of a state that the next action depends on. A run has it too, without a state that is built for it. */
export type Workable = Pick<AgentState, 'execution' | 'currentStep'>;

/** Does the same as `nextAction` for a run, or for a state that is one for sure. */
export function nextActionOf({ execution, currentStep }: Workable): NextAction {
  if (execution === undefined || execution.status === 'pending') return START;
  if (execution.isTerminal) return NONE;
  if (execution.status === 'suspended') return { type: 'wait', waiting: execution.waiting };
  if (currentStep) return nextInStep(currentStep, execution.continuation.hasNewSignals);
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

/** Returns the waiting entries of a call: its own approval, or the entries of the subagent inside it. */
export function waitingOfCall(execution: ToolExecution): readonly Waiting[] {
  if (execution.isAwaitingApproval) return [{ type: 'approval', toolExecutionId: execution.id }];
  return execution.waitingInside;
}

function isWaiting(execution: ToolExecution): boolean {
  return execution.isAwaitingApproval || execution.waitingInside.length > 0;
}

/** True for a call that was started and waits for nothing. */
function isInDoubt(execution: ToolExecution): boolean {
  return execution.isRunning && !isWaiting(execution);
}

/** True when tools of the current step may start. Some of them may already run. */
export function canRunTools({ execution, currentStep: step }: Workable): boolean {
  if (execution === undefined || step?.response === undefined) return false;
  if (execution.status !== 'inProgress' || step.errors.length > 0) return false;
  return !execution.continuation.hasNewSignals && RUNS_TOOLS.has(step.response.finishReason);
}

/**
 * Returns the state after an action had an outcome. Pure.
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for an id that the state already contains, for a value that is not a
 * state, and for an unknown type of outcome.
 */
export function applyOutcome(state: AgentState, outcome: StepperOutcome): AgentState {
  requireState(state, 'applyOutcome');
  checkArgument('The outcome of an action', outcome, mustBe.object);
  checkArgument('The type of an outcome', outcome.type, OUTCOME_TYPE);
  return applyChecked(state, outcome, false);
}

/** Does the same as `applyOutcome`. With `hasNewIds`, the ids are random and new, so no duplicates are searched for. */
export function applyChecked(state: AgentState, outcome: StepperOutcome, hasNewIds: boolean): AgentState {
  const { at } = outcome;
  const step = state.currentStep && stepAfter(state.currentStep, outcome);
  if (step !== undefined) return withStep(state, step, at);
  switch (outcome.type) {
    case 'started':
      return state.withExecutionStarted(at, outcome.executionId);
    case 'stepBegun':
      return withStep(state, AgentStep.create(outcome.input, outcome.stepId), at, hasNewIds);
    case 'requestChanged':
      return withEffectiveRequest(state, outcome.request, at);
    case 'inferred':
      return withLateResponse(state, outcome.response, outcome.fingerprint, at);
    case 'inferenceFailed':
      return withFailure(state, outcome.failure, outcome.fallback, at);
    case 'inputChanged':
    case 'inferenceRetried':
      return state; // no step is open
    case 'toolsAdvanced':
      for (const execution of outcome.toolExecutions) requireToolExecution(execution);
      return withTools(state, outcome.toolExecutions, at, hasNewIds);
    case 'failed':
      return state.withError(outcome.error, at);
    case 'stepClosed':
      return state.withStepClosed(outcome.messageIds, at, outcome.workedSeconds);
    case 'suspended':
      return state.withExecutionStatus('suspended', at, outcome.waiting);
    case 'finished':
      return state.withExecutionCompleted(at);
  }
}

/** Returns the open step after an outcome that changes nothing else in the state; `undefined` for any other outcome. */
export function stepAfter(step: AgentStep, outcome: StepperOutcome): AgentStep | undefined {
  switch (outcome.type) {
    case 'inputChanged':
      return step.withInput(outcome.input);
    case 'inferred':
      return step.withResponse(outcome.response, outcome.fingerprint);
    case 'inferenceRetried':
      return step.withInferenceRetried(outcome.at);
    default:
      return undefined;
  }
}

function withStep(state: AgentState, step: AgentStep, at: Instant, hasNewIds = false): AgentState {
  return hasNewIds ? state.withNewStep(step, at) : state.withCurrentStep(step, at);
}

/** Records changed tool executions, as the outcome `toolsAdvanced` does. */
export function withTools(
  state: AgentState,
  toolExecutions: readonly ToolExecution[],
  at: Instant,
  hasNewIds: boolean,
): AgentState {
  const { currentStep } = state;
  if (currentStep === undefined) return withLateTools(state, toolExecutions, at);
  return withStep(state, currentStep.withToolExecutions(toolExecutions), at, hasNewIds);
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
 * The step that the loop works on: the open step, or the last step of a terminal execution. A hook may end the
 * execution while an inference or calls run; their results still belong to that step.
 */
export function stepAtWork({ currentStep, execution }: Workable): AgentStep | undefined {
  return currentStep ?? (execution?.isTerminal ? execution.lastStepExecution?.step : undefined);
}

/** Records a response that arrived after a hook ended the execution. */
function withLateResponse(
  state: AgentState,
  response: InferenceResponse,
  fingerprint: string | undefined,
  at: Instant,
): AgentState {
  const step = stepAtWork(state);
  if (step === undefined || step.response !== undefined) return state;
  return state.withLastStep(step.withResponse(response, fingerprint), at);
}

/** Records the started and completed calls of a step whose execution a hook has ended. */
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

/** Rebases a hook's result: keeps the progress and usage that tools reported between `base` and `now`. */
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
    // A call that ran when the hook ended the execution is marked as interrupted.
    if (!isHooks || (isOver && was?.isRunning)) state = withTools(state, [toolExecution], at, false);
  }
  return state;
}

function executionIn(state: AgentState, id: ToolExecutionId): ToolExecution | undefined {
  return stepAtWork(state)?.toolExecutions.find((execution) => execution.id === id);
}

function withEffectiveRequest(
  state: AgentState,
  { model, llmConfig, toolChoice, form, shortenedTo }: EffectiveRequest,
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
    ...(form !== undefined && { form }),
    ...(shortenedTo !== undefined && { shortenedTo }),
  };
  return state.withNewStep(step.withRequest(request), at);
}
