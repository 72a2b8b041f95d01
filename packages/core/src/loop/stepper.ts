import type { Instant } from '../clock.ts';
import type { AgentState } from '../state/agent-state.ts';
import type { Waiting } from '../state/execution.ts';
import type { ExecutionId, StepId } from '../state/ids.ts';
import type { FinishReason, InferenceResponse } from '../state/inference.ts';
import type { Messages, ToolCallPart } from '../state/messages.ts';
import type { StepMessageIds } from '../state/step.ts';
import { AgentStep } from '../state/step.ts';
import type { ToolExecution } from '../state/tool-execution.ts';

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
  | { readonly type: 'start' | 'beginStep' | 'infer' | 'closeStep' | 'finish' | 'none' }
  | { readonly type: 'runTools'; readonly calls: readonly ToolCallPart[] }
  | { readonly type: 'resolveTools'; readonly toolExecutions: readonly ToolExecution[] }
  | { readonly type: 'wait'; readonly waiting: readonly Waiting[] };

/** What came of doing it. */
export type Outcome =
  /** The id is that of the execution if a new one begins. */
  | { readonly type: 'started'; readonly executionId: ExecutionId; readonly at: Instant }
  | { readonly type: 'stepBegun'; readonly stepId: StepId; readonly input: Messages; readonly at: Instant }
  /** The model is shown something else than what the step began with. */
  | { readonly type: 'inputChanged'; readonly input: Messages; readonly at: Instant }
  | { readonly type: 'inferred'; readonly response: InferenceResponse; readonly at: Instant }
  /** A tool was started, or has ended: `outcome` tells which. */
  | { readonly type: 'toolAdvanced'; readonly toolExecution: ToolExecution; readonly at: Instant }
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

/** An answer that ended for these reasons is not to be acted upon. */
const CUT_SHORT: ReadonlySet<FinishReason> = new Set(['length', 'content-filter', 'error', 'aborted']);

/** What to do next. Pure: it follows from the state alone, in any process. */
export function next(state: AgentState): NextAction {
  const { execution } = state;
  if (execution === undefined || execution.status === 'pending') return { type: 'start' };
  if (execution.isTerminal) return { type: 'none' };
  if (execution.status === 'suspended') return { type: 'wait', waiting: execution.waiting };
  if (execution.currentStep) return nextInStep(execution.currentStep, execution.continuation.hasNewSignals);
  const hasFailed = execution.errors.length > 0 || (execution.latestStep?.errors.length ?? 0) > 0;
  return { type: hasFailed || execution.shouldStop ? 'finish' : 'beginStep' };
}

function nextInStep(step: AgentStep, isToldToStop: boolean): NextAction {
  for (const execution of step.toolExecutions) {
    if (isLeft(execution))
      return { type: 'resolveTools', toolExecutions: step.toolExecutions.filter(isLeft) };
  }
  if (step.errors.length > 0 || isToldToStop) return { type: 'closeStep' };
  if (step.response === undefined) return { type: 'infer' };
  if (CUT_SHORT.has(step.response.finishReason)) return { type: 'closeStep' };
  const calls = step.callsToRun;
  if (calls.length > 0) return { type: 'runTools', calls };
  const waiting = step.toolExecutions.flatMap(waitingOf);
  return waiting.length === 0 ? { type: 'closeStep' } : { type: 'wait', waiting };
}

/** What a call waits for: a decision, or whatever a subagent waits for that it is. */
export function waitingOf(execution: ToolExecution): readonly Waiting[] {
  if (execution.isAwaitingApproval) return [{ type: 'approval', toolExecutionId: execution.id }];
  return execution.waitingInside as unknown as readonly Waiting[];
}

/** Was it started, and does it wait for nobody? */
function isLeft({ isRunning, isAwaitingApproval, waitingInside }: ToolExecution): boolean {
  return isRunning && !isAwaitingApproval && waitingInside.length === 0;
}

/** May tools of the current step be started? They may run already. */
export function canRunTools({ execution }: AgentState): boolean {
  const step = execution?.currentStep;
  if (execution === undefined || step?.response === undefined) return false;
  if (execution.status !== 'inProgress' || step.errors.length > 0) return false;
  return !execution.continuation.hasNewSignals && !CUT_SHORT.has(step.response.finishReason);
}

/** The state after an action came to an outcome. Pure. */
export function apply(state: AgentState, outcome: Outcome): AgentState {
  switch (outcome.type) {
    case 'started':
      return state.withExecutionStarted(outcome.at, outcome.executionId);
    case 'stepBegun':
      return state.withCurrentStep(AgentStep.start(outcome.input, outcome.stepId), outcome.at);
    case 'inputChanged':
      return inStep(state, outcome.at, (step) => step.withInput(outcome.input));
    case 'inferred':
      return inStep(state, outcome.at, (step) => step.withResponse(outcome.response));
    case 'toolAdvanced':
      return inStep(state, outcome.at, (step) => step.withToolExecution(outcome.toolExecution));
    case 'failed':
      return state.withError(outcome.error, outcome.at);
    case 'stepClosed': {
      const { messageIds, workedSeconds, at } = outcome;
      return state.withStepClosed(messageIds, at, workedSeconds);
    }
    case 'suspended':
      return state.withExecutionStatus('suspended', outcome.at, outcome.waiting);
    case 'finished':
      return state.withExecutionCompleted(outcome.at);
  }
}

function inStep(state: AgentState, at: Instant, change: (step: AgentStep) => AgentStep): AgentState {
  return state.currentStep === undefined ? state : state.withCurrentStep(change(state.currentStep), at);
}

/** What a hook made of `base`, and what tools have said of progress and usage between `base` and `now`. */
export function withToolsOf(now: AgentState, base: AgentState, changed: AgentState, at: Instant): AgentState {
  if (now === base) return changed;
  let state = changed;
  for (const toolExecution of now.currentStep?.toolExecutions ?? []) {
    const { id } = toolExecution;
    const was = base.currentStep?.toolExecutions.find((execution) => execution.id === id);
    const isHooks = changed.currentStep?.toolExecutions.find((execution) => execution.id === id) !== was;
    if (toolExecution !== was && !isHooks) state = apply(state, { type: 'toolAdvanced', toolExecution, at });
  }
  return state;
}
