import type { Instant } from '../../clock.ts';
import { isSameJson } from '../../json.ts';
import type { AgentState } from '../../state/agent-state.ts';
import type { StopSignal } from '../../state/execution/continuation.ts';
import type { ExecutionStatus } from '../../state/execution/status.ts';
import type { ExecutionId, StepId } from '../../state/values/ids.ts';
import type { InferenceResponse } from '../../state/inference/inference-response.ts';
import type { EffectiveRequest } from '../../state/inference/request.ts';
import type { AgentStep } from '../../state/execution/step.ts';
import { Usage } from '../../state/inference/usage.ts';
import type { ErrorRecord } from '../../state/values/error-record.ts';
import type { Message, UserMessage } from '../../state/messages/messages.ts';
import { executionIdOf } from '../../state/messages/message-tags.ts';
import type { Waiting } from '../../state/values/waiting.ts';
import type { StepExecution } from '../../state/execution/step-execution.ts';
import type { ToolExecution } from '../../state/tools/tool-execution.ts';
import type { ToolBlock } from '../../state/tools/tool-outcome.ts';
import { executionWithId } from '../../state/tools/tool-executions.ts';
import type { InferenceDelta } from '../inference/driver.ts';

/** The content of an event, without the members that all events have. */
export type EventBody =
  | { readonly type: 'execution-started' }
  | { readonly type: 'execution-resumed' }
  | { readonly type: 'execution-suspended' }
  | { readonly type: 'execution-stopped' }
  | { readonly type: 'execution-completed' }
  | { readonly type: 'execution-failed' }
  /**
   * The execution has a new user message, which `sendMessage` or the inbox added: at the start of a run, or between two
   * steps. The execution responds to it.
   */
  | { readonly type: 'message-taken-in'; readonly message: UserMessage }
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
  /**
   * The call begins to wait: for a decision, an answer, a child session, or for an event inside a subagent. Emitted once
   * for each request, and again when the call requests approval again.
   */
  | { readonly type: 'tool-waiting'; readonly stepId: StepId; readonly toolExecution: ToolExecution }
  /** The running tool saved other progress with `context.saveProgress`: `toolExecution.progress`. */
  | { readonly type: 'tool-progress'; readonly stepId: StepId; readonly toolExecution: ToolExecution }
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

/** The session whose agent a run works for, as it is when an event occurs. */
export interface EventSession {
  readonly sessionId: string;
  /** The epoch of the claim under which the worker runs the agent. A later worker has a higher epoch. */
  readonly epoch: number;
  /** The version of the session that was saved last. */
  readonly version: number;
}

/** The members that all events have, besides their content. */
export interface EventFrame {
  readonly at: Instant;
  /** The state right after the event. */
  readonly state: AgentState;
  /** The execution that the run works on. */
  readonly executionId: ExecutionId;
  /**
   * The number of the attempt at the open step, or at the last closed step when none is open. It is 1 more than the
   * number of times that the loop repeated a failed call of the model in this step.
   */
  readonly attempt: number;
  /** The session, for a run under a `SessionRuntime`. */
  readonly session?: EventSession | undefined;
}

/** An event of a run. The union is closed: a switch over `type` can be complete. */
export type AgentEvent = EventBody & EventFrame;

export type AgentEventType = AgentEvent['type'];

/** Receives events. An error that a listener throws is ignored. */
export type AgentEventListener = (event: AgentEvent) => void;

export function eventOf(
  body: EventBody,
  { state, executionId, at, session }: Omit<EventFrame, 'attempt'>,
): AgentEvent {
  const frame = { at, state, executionId, attempt: attemptOf(state) };
  return session === undefined ? { ...frame, ...body } : { ...frame, session, ...body };
}

/** The tools of the loop that announced an event. A member of the event would reach every log. */
const toolsOfEvents = new WeakMap<AgentEvent, ReadonlyMap<string, unknown>>();

/** Notes the tools of the loop that announces an event, and returns the event. */
export function withToolsOfLoop(event: AgentEvent, tools: ReadonlyMap<string, unknown>): AgentEvent {
  if (event.type !== 'inference-delta') toolsOfEvents.set(event, tools);
  return event;
}

/** True when the loop that announced the event has a tool with this name. */
export function isToolOf(event: AgentEvent, name: string): boolean {
  return toolsOfEvents.get(event)?.has(name) === true;
}

function attemptOf({ execution }: AgentState): number {
  const failures = execution?.latestStep?.inferenceFailures ?? [];
  return failures.reduce((count, { retriedAt }) => (retriedAt === undefined ? count : count + 1), 1);
}

/** Returns one listener that passes each event to these listeners; `undefined` for none. */
export function joinedListener(
  ...listeners: readonly (AgentEventListener | undefined)[]
): AgentEventListener | undefined {
  const all = listeners.filter((listener) => listener !== undefined);
  return all.length > 1 ? (event) => announceTo(all, event) : all[0];
}

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
  if (before.messages !== after.messages) collectMessages(before, after, found);
  if (before.execution !== after.execution) {
    collectStepStart(before, after, found);
    collectStepProgress(before, after, found);
    collectSignals(before, after, found);
    collectStepEnd(before, after, found);
    collectChildWaits(before, after, found);
    collectStatus(before, after, found);
  }
  return found;
}

/** Only messages of people have the tag of the execution: a hook adds its messages without it. */
function collectMessages(
  { messages: known }: AgentState,
  { messages, executionId }: AgentState,
  found: EventBody[],
): void {
  for (const message of messages.since(known) ?? addedBeside(known.toArray(), messages.toArray()))
    if (message.role === 'user' && executionId !== undefined && executionIdOf(message) === executionId)
      found.push({ type: 'message-taken-in', message });
}

function addedBeside(known: readonly Message[], messages: readonly Message[]): readonly Message[] {
  const before = new Set(known);
  return messages.filter((message) => !before.has(message));
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
    if (known !== toolExecution && beginsToWait(known, toolExecution))
      found.push({ type: 'tool-waiting', stepId: step.id, toolExecution });
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

/** Each attempt is announced as a start. The loop announces progress and usage where they are reported. */
function toolProgress(
  known: ToolExecution | undefined,
  is: ToolExecution,
): ToolEventBody['type'] | undefined {
  const isSameTry = known?.isRunning && known.attempt === is.attempt;
  if (is.isRunning) return isSameTry ? undefined : 'tool-started';
  if (is.outcome === undefined || known?.outcome !== undefined) return undefined;
  return is.wasBlocked ? 'tool-blocked' : 'tool-completed';
}

/** True when the call waits for a decision, or inside, and did not wait for the same event before. */
function beginsToWait(known: ToolExecution | undefined, is: ToolExecution): boolean {
  if (is.isAwaitingApproval) return known?.approval?.requestedAt !== is.approval?.requestedAt;
  return is.waitingInside.some((waiting) => !isAmong(known?.waitingInside, waiting));
}

function isAmong(known: readonly Waiting[] | undefined, waiting: Waiting): boolean {
  return known?.some((entry) => isSameJson(entry, waiting)) ?? false;
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
  const explanation = hasFailed ? 'stop: an error' : execution.continuation.explain(execution.hasOpenCalls);
  found.push({ type: 'continuation-evaluated', shouldStop: hasFailed || execution.shouldStop, explanation });
}

/** A call waits for a child session when the execution does so for the call. */
function collectChildWaits(
  { execution: before }: AgentState,
  { execution, currentStep: step }: AgentState,
  found: EventBody[],
): void {
  if (step === undefined || execution?.status !== 'suspended' || execution.waiting === before?.waiting)
    return;
  for (const entry of execution.waiting) {
    if (entry.type !== 'child' || isAmong(before?.waiting, entry)) continue;
    const toolExecution = step.toolExecutions.find(({ id }) => id === entry.toolExecutionId);
    if (toolExecution) found.push({ type: 'tool-waiting', stepId: step.id, toolExecution });
  }
}

function collectStatus(before: AgentState, after: AgentState, found: EventBody[]): void {
  const isSame = before.executionId === after.executionId && before.status === after.status;
  const type = after.status && STATUS_EVENTS[after.status];
  if (!isSame && type) found.push({ type } as EventBody);
}
