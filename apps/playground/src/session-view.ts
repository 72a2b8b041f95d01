import { textOf } from '@holdfast/core';
import { executionIdOf, isTrace } from '@holdfast/core/engine';
import type {
  AgentSession,
  AgentState,
  AgentStep,
  ErrorRecord,
  ExecutionStatus,
  Message,
  SessionInfo,
  SessionStatus,
  StopSignal,
  ToolExecution,
} from '@holdfast/core';
import type { StepType, ToolOutcomeType } from '@holdfast/core/engine';
import { maxSteps } from './agent.ts';

/** A session in the list. */
export interface SessionSummary {
  readonly sessionId: string;
  /** The beginning of its first message. */
  readonly title: string;
  readonly version: number;
  readonly status: SessionStatus;
  readonly executionStatus: ExecutionStatus | undefined;
  readonly updatedAt: number;
  readonly isFork: boolean;
  /** A run of it is in progress in this server. */
  readonly isRunning: boolean;
  /** Its execution is neither over nor suspended, and has no run in this server. */
  readonly isUnfinished: boolean;
}

/** Tokens of a call or of many; a number that was not reported is absent. */
interface TokensView {
  readonly input?: number | undefined;
  readonly output?: number | undefined;
  /** Calls in the sum that reported nothing. */
  readonly unreportedCalls: number;
}

/** One call of a tool. Seconds and instants as everywhere. */
export interface ToolView {
  readonly id: string;
  readonly stepNumber: number;
  readonly name: string;
  readonly args: unknown;
  readonly outcome: ToolOutcomeType | 'running' | 'waiting';
  readonly result: unknown;
  readonly attempt: number;
  readonly idempotencyKey: string;
  readonly startedAt: number | undefined;
  readonly seconds: number;
}

/** One step; without a type while it is in progress. */
export interface StepView {
  readonly id: string;
  readonly number: number;
  readonly type: StepType | undefined;
  readonly startedAt: number;
  readonly seconds: number | undefined;
  readonly tokens: TokensView;
  readonly modelId: string | undefined;
  readonly finishReason: string | undefined;
  readonly text: string;
  readonly toolNames: readonly string[];
  readonly errors: readonly ErrorRecord[];
}

/** One message of the stored conversation. */
export interface MessageView {
  readonly message: Message;
  /** The text of the message, in one line. */
  readonly summary: string;
  /** Which step of its execution made it. */
  readonly stepNumber: number | undefined;
  readonly isTrace: boolean;
}

/** The execution in progress, or the last one. */
export interface ExecutionView {
  readonly executionId: string;
  readonly number: number;
  readonly status: ExecutionStatus;
  readonly startedAt: number;
  readonly seconds: number;
  readonly decision: string;
  readonly steps: readonly StepView[];
  readonly tools: readonly ToolView[];
  readonly signals: readonly StopSignal[];
  readonly errors: readonly ErrorRecord[];
  readonly spent: { readonly steps: number; readonly tokens: TokensView; readonly workedSeconds: number };
}

/** The data of a session that the page shows beside the chat. */
export interface SessionView extends SessionSummary {
  readonly agentId: string;
  readonly agentLabel: string;
  readonly createdAt: number;
  readonly forkedFrom: string | undefined;
  readonly maxSteps: number;
  readonly execution: ExecutionView | undefined;
  readonly messages: readonly MessageView[];
}

/** A session that cannot be read, in one line of a list. */
export function toUnreadableSummary(info: SessionInfo): SessionSummary {
  const { sessionId, version, status, executionStatus, updatedAt } = info;
  const flags = { isFork: false, isRunning: false, isUnfinished: false };
  return { sessionId, title: 'Cannot be read', version, status, executionStatus, updatedAt, ...flags };
}

/** A session in one line of a list. */
export function toSessionSummary(session: AgentSession, isRunning: boolean): SessionSummary {
  const { sessionId, version, status, state, updatedAt, forkedFrom } = session;
  const first = state.messages.toArray().find(({ role }) => role === 'user');
  return {
    sessionId,
    title: (first && shortened(textOf(first), 80)) || 'New session',
    version,
    status,
    executionStatus: state.status,
    updatedAt,
    isFork: forkedFrom !== undefined,
    isRunning,
    isUnfinished: state.hasActiveExecution && state.status !== 'suspended' && !isRunning,
  };
}

/** A session as the page shows it, as JSON. */
export function toSessionView(session: AgentSession, isRunning: boolean): SessionView {
  const { state, definition, createdAt, forkedFrom } = session;
  return {
    ...toSessionSummary(session, isRunning),
    agentId: state.agentId,
    agentLabel: definition.label ?? definition.name,
    createdAt,
    forkedFrom,
    maxSteps,
    execution: toExecutionView(state),
    messages: toMessageViews(state),
  };
}

function toExecutionView(state: AgentState): ExecutionView | undefined {
  const { execution } = state;
  if (execution === undefined) return undefined;
  const finished = state.stepExecutions
    .toArray()
    .map(({ step, startedAt, duration }, index) => toStepView(step, index + 1, startedAt, duration));
  const { currentStep, currentStepStartedAt = execution.startedAt } = execution;
  const current = currentStep ? [toStepView(currentStep, state.stepCount, currentStepStartedAt)] : [];
  return {
    executionId: execution.executionId,
    number: Math.max(1, state.executionCount),
    status: execution.status,
    startedAt: execution.startedAt,
    seconds: state.executionDuration,
    decision: execution.continuation.explain(execution.hasToolCalls),
    steps: [...finished, ...current],
    tools: stepsOf(state).flatMap((step, index) =>
      step.toolExecutions.map((tool) => toToolView(tool, index + 1)),
    ),
    signals: execution.continuation.signals,
    errors: state.errors,
    spent: {
      steps: state.stepCount,
      tokens: toTokensView(state.usage),
      workedSeconds: execution.workedSeconds,
    },
  };
}

function toStepView(step: AgentStep, number: number, startedAt: number, seconds?: number): StepView {
  const { id, response, text, usage, allErrors } = step;
  return {
    id,
    number,
    type: seconds === undefined ? undefined : step.type,
    startedAt,
    seconds,
    tokens: toTokensView(usage),
    modelId: response?.modelId,
    finishReason: response?.finishReason,
    text: shortened(text, 160),
    toolNames: step.requestedToolCalls.map(({ toolName }) => toolName),
    errors: allErrors,
  };
}

function toToolView(tool: ToolExecution, stepNumber: number): ToolView {
  const { id, name, args, attempt, idempotencyKey, startedAt, duration, outcome } = tool;
  const result = outcome === undefined ? undefined : (tool.value ?? tool.error?.message ?? null);
  return {
    id,
    stepNumber,
    name,
    args,
    outcome: outcome?.type ?? (tool.isAwaitingApproval ? 'waiting' : 'running'),
    result,
    attempt,
    idempotencyKey,
    startedAt,
    seconds: duration,
  };
}

function toTokensView({ inputTokens, outputTokens, unreportedCalls }: AgentState['usage']): TokensView {
  return { input: inputTokens, output: outputTokens, unreportedCalls };
}

function toMessageViews(state: AgentState): readonly MessageView[] {
  const steps = new Map<string, string[]>();
  if (state.executionId)
    steps.set(
      state.executionId,
      stepsOf(state).map(({ id }) => id),
    );
  return state.messages.toArray().map((message) => ({
    message,
    summary: summaryOf(message),
    stepNumber: stepNumberOf(message, steps),
    isTrace: isTrace(message),
  }));
}

/** The place of the message's step in its execution; of earlier executions only the messages are known. */
function stepNumberOf(message: Message, steps: Map<string, string[]>): number | undefined {
  const [executionId, stepId] = [executionIdOf(message), message.metadata?.['step_id']];
  if (executionId === undefined || typeof stepId !== 'string') return undefined;
  const known = steps.get(executionId) ?? [];
  steps.set(executionId, known);
  if (!known.includes(stepId)) known.push(stepId);
  return known.indexOf(stepId) + 1;
}

function stepsOf({ steps, currentStep }: AgentState): readonly AgentStep[] {
  return currentStep ? [...steps, currentStep] : steps;
}

function summaryOf(message: Message): string {
  const text = textOf(message);
  if (text !== '') return shortened(text, 120);
  const tools = message.content.flatMap((part) => ('toolName' in part ? [part.toolName] : []));
  return tools.length > 0
    ? `${message.role === 'tool' ? 'result of' : 'calls'} ${tools.join(', ')}`
    : '(empty)';
}

/** One line of at most so many characters. */
function shortened(text: string, longest: number): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > longest ? `${line.slice(0, longest - 1).trimEnd()}…` : line;
}
