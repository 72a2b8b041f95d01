import type { Instant } from '../clock.ts';
import type { AgentState } from '../state/agent-state.ts';
import type { StopSignal } from '../state/execution/continuation.ts';
import type { ExecutionStatus } from '../state/execution/status.ts';
import type { StepId } from '../state/values/ids.ts';
import type { InferenceResponse } from '../state/inference/inference-response.ts';
import type { EffectiveRequest } from '../state/inference/request.ts';
import type { AgentStep } from '../state/execution/step.ts';
import { Usage } from '../state/inference/usage.ts';
import type { ErrorRecord } from '../state/values/error-record.ts';
import type { StepExecution } from '../state/execution/step-execution.ts';
import type { ToolExecution } from '../state/execution/tool-execution.ts';
import type { ToolBlock } from '../state/execution/tool-outcome.ts';
import { executionWithId } from '../state/execution/tool-executions.ts';
import type { InferenceDelta } from './inference/driver.ts';

/** The content of an event, without its instant and state. */
export type EventBody =
  | { readonly type: 'execution-started' }
  | { readonly type: 'execution-resumed' }
  | { readonly type: 'execution-suspended' }
  | { readonly type: 'execution-stopped' }
  | { readonly type: 'execution-completed' }
  | { readonly type: 'execution-failed' }
  /** `stepNumber` counts from 1. */
  | { readonly type: 'step-started'; readonly stepId: StepId; readonly stepNumber: number }
  | { readonly type: 'step-completed'; readonly stepExecution: StepExecution; readonly stepNumber: number }
  /** `request`: the effective request, after all hooks. */
  | {
      readonly type: 'inference-started';
      readonly stepId: StepId;
      readonly messageCount: number;
      readonly request: EffectiveRequest;
    }
  | { readonly type: 'inference-delta'; readonly stepId: StepId; readonly delta: InferenceDelta }
  | { readonly type: 'inference-completed'; readonly stepId: StepId; readonly response: InferenceResponse }
  /**
   * A call of the model failed. `retryAt`: when the loop repeats the call; absent when the call waits for `retry()`.
   */
  | {
      readonly type: 'inference-failed';
      readonly stepId: StepId;
      readonly error: ErrorRecord;
      readonly retryAt: Instant | undefined;
    }
  /** The loop repeats the failed call of the model: discard the deltas that arrived before. `attempt` counts from 1. */
  | { readonly type: 'step-restarted'; readonly stepId: StepId; readonly attempt: number }
  /** Emitted once for each attempt. */
  | { readonly type: 'tool-started'; readonly stepId: StepId; readonly toolExecution: ToolExecution }
  | { readonly type: 'tool-completed'; readonly stepId: StepId; readonly toolExecution: ToolExecution }
  /** Emitted instead of `tool-completed` for a call that hooks blocked. */
  | {
      readonly type: 'tool-blocked';
      readonly stepId: StepId;
      readonly toolExecution: ToolExecution;
      readonly blockedBy: readonly ToolBlock[];
    }
  | { readonly type: 'continuation-evaluated'; readonly shouldStop: boolean; readonly explanation: string }
  | { readonly type: 'stop-signal-raised'; readonly signal: StopSignal }
  | { readonly type: 'usage-updated'; readonly usage: Usage }
  /** An event from the run of a subagent. Events of a subagent's subagent are nested. */
  | {
      readonly type: 'subagent';
      readonly toolCallId: string;
      readonly toolName: string;
      readonly event: AgentEvent;
    };

/** An event of a run. The union is closed: a switch over `type` can be complete. */
export type AgentEvent = EventBody & {
  readonly at: Instant;
  /** The state right after the event. */
  readonly state: AgentState;
};

export type AgentEventType = AgentEvent['type'];

/** Receives events. An error that a listener throws is ignored. */
export type AgentEventListener = (event: AgentEvent) => void;

/** Passes an event to every listener. An error that a listener throws, now or later, is ignored. */
export function announceTo<E>(listeners: readonly ((event: E) => void)[], event: E): void {
  for (const listener of listeners) {
    try {
      const result: unknown = listener(event);
      if (isThenable(result)) Promise.resolve(result).catch(() => undefined);
    } catch {
      // The error of a listener is ignored.
    }
  }
}

/** True for a promise. The check is by method, because a promise of another realm has another class. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

const STATUS_EVENTS: { readonly [S in ExecutionStatus]?: EventBody['type'] } = {
  suspended: 'execution-suspended',
  stopped: 'execution-stopped',
  completed: 'execution-completed',
  failed: 'execution-failed',
};

/** The events between two states of a run, in order. The loop announces exactly these events for a change of state. */
export function eventsBetween(before: AgentState, after: AgentState): readonly EventBody[] {
  const found: EventBody[] = [];
  if (before.execution !== after.execution) {
    collectStepStart(before, after, found);
    collectStepProgress(before, after, found);
    collectSignals(before, after, found);
    collectStepEnd(before, after, found);
    collectStatus(before, after, found);
  }
  return found;
}

function collectStepStart(before: AgentState, after: AgentState, found: EventBody[]): void {
  const step = after.currentStep;
  if (step && step.id !== before.currentStep?.id) {
    found.push({ type: 'step-started', stepId: step.id, stepNumber: after.stepCount });
  }
}

function collectStepProgress(before: AgentState, after: AgentState, found: EventBody[]): void {
  const step = after.currentStep ?? after.lastStep;
  const earlier = step && stepBefore(before, step);
  if (step === undefined || (earlier === undefined && after.currentStep === undefined)) return;
  collectRetries(step, earlier, found);
  if (step.response && !earlier?.response) {
    found.push({ type: 'inference-completed', stepId: step.id, response: step.response });
    found.push({ type: 'usage-updated', usage: after.usage });
  }
  if (step.toolExecutions === earlier?.toolExecutions) return;
  for (const [place, toolExecution] of step.toolExecutions.entries()) {
    const known = earlier && executionWithId(earlier.toolExecutions, toolExecution.id, place);
    const type = known === toolExecution ? undefined : toolProgress(known, toolExecution);
    if (type) found.push(toolEventBody(type, step.id, toolExecution));
    if (toolExecution.usage !== (known?.usage ?? Usage.none))
      found.push({ type: 'usage-updated', usage: after.usage });
  }
}

function collectRetries(
  { id: stepId, inferenceFailures: failures }: AgentStep,
  earlier: AgentStep | undefined,
  found: EventBody[],
): void {
  if (failures.length === 0 || failures === earlier?.inferenceFailures) return;
  for (const [index, { error, retryAt, retriedAt }] of failures.entries()) {
    const known = earlier?.inferenceFailures[index];
    if (!known) found.push({ type: 'inference-failed', stepId, error, retryAt });
    if (retriedAt !== undefined && known?.retriedAt === undefined)
      found.push({ type: 'step-restarted', stepId, attempt: index + 2 });
  }
}

/** The earlier version of a step, which may have been open or closed. */
function stepBefore({ currentStep, lastStep }: AgentState, { id }: AgentStep): AgentStep | undefined {
  if (currentStep?.id === id) return currentStep;
  return lastStep?.id === id ? lastStep : undefined;
}

type ToolEventBody = Extract<EventBody, { readonly toolExecution: ToolExecution }>;

function toolEventBody(
  type: ToolEventBody['type'],
  stepId: StepId,
  toolExecution: ToolExecution,
): ToolEventBody {
  if (type !== 'tool-blocked') return { type, stepId, toolExecution };
  return { type, stepId, toolExecution, blockedBy: toolExecution.blockedBy };
}

/** Each attempt is announced as a start; the progress and usage reported in between are not announced. */
function toolProgress(
  known: ToolExecution | undefined,
  is: ToolExecution,
): ToolEventBody['type'] | undefined {
  const isSameTry = known?.isRunning && known.attempt === is.attempt;
  if (is.isRunning) return isSameTry ? undefined : 'tool-started';
  if (is.outcome === undefined || known?.outcome !== undefined) return undefined;
  return is.wasBlocked ? 'tool-blocked' : 'tool-completed';
}

function collectSignals(before: AgentState, after: AgentState, found: EventBody[]): void {
  const known =
    before.executionId === after.executionId ? (before.execution?.continuation.signals.length ?? 0) : 0;
  for (const signal of after.execution?.continuation.signals.slice(known) ?? []) {
    found.push({ type: 'stop-signal-raised', signal });
  }
}

function collectStepEnd(before: AgentState, after: AgentState, found: EventBody[]): void {
  const { execution, lastStepExecution: stepExecution } = after;
  if (!execution || !stepExecution || stepExecution.id === before.lastStepExecution?.id) return;
  found.push({ type: 'step-completed', stepExecution, stepNumber: execution.stepExecutions.length });
  const hasFailed = execution.hasUnresolvedErrors;
  const explanation = hasFailed ? 'stop: an error' : execution.continuation.explain(execution.hasToolCalls);
  found.push({ type: 'continuation-evaluated', shouldStop: hasFailed || execution.shouldStop, explanation });
}

function collectStatus(before: AgentState, after: AgentState, found: EventBody[]): void {
  const isSame = before.executionId === after.executionId && before.status === after.status;
  const type = after.status && STATUS_EVENTS[after.status];
  if (!isSame && type) found.push({ type } as EventBody);
}
