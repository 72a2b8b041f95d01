import {
  textOf,
  type AgentSession,
  type AgentState,
  type AgentStep,
  type ErrorRecord,
  type ExecutionStatus,
  type Message,
  type StopSignal,
  type ToolExecution,
} from '@holdfast/core';
import { executionIdOf, isTrace, type StepType, type ToolOutcomeType } from '@holdfast/core/engine';
import { maxSteps } from '../agent.ts';
import { isGoingOn, NEW_TITLE, shortened, titleOf, type SessionSummary } from './session-summary.ts';

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

/** One message of the stored conversation. The page loads its content when the user opens it. */
export interface MessageView {
  readonly id: string;
  readonly role: Message['role'];
  /** The text of the message, in one line. */
  readonly summary: string;
  /** Which step of its execution made it. */
  readonly stepNumber: number | undefined;
  readonly isTrace: boolean;
}

/** The execution in progress, or the last one. */
interface ExecutionView {
  readonly executionId: string;
  readonly number: number;
  readonly status: ExecutionStatus;
  readonly startedAt: number;
  readonly seconds: number;
  readonly decision: string;
  readonly signals: readonly StopSignal[];
  readonly errors: readonly ErrorRecord[];
  readonly spent: { readonly steps: number; readonly tokens: TokensView; readonly workedSeconds: number };
}

/** The facts of a session that the page shows beside the chat. They are small. */
export interface SessionFacts extends Omit<SessionSummary, 'updatedAt'> {
  readonly agentId: string;
  readonly agentLabel: string;
  readonly forkedFrom: string | undefined;
  readonly maxSteps: number;
  readonly messageCount: number;
  readonly execution: ExecutionView | undefined;
}

/** The data of a session that the page shows beside the chat. */
export interface SessionView extends SessionFacts {
  /** The steps of the execution. */
  readonly steps: readonly StepView[];
  /** The calls of the execution. */
  readonly tools: readonly ToolView[];
  /** The last messages. */
  readonly messages: readonly MessageView[];
}

/** How many messages the page lists. */
const LISTED_MESSAGES = 200;

/** A session as the page shows it, as JSON. */
export function toSessionView(session: AgentSession): SessionView {
  const { sessionId, version, state, definition, forkedFrom } = session;
  return {
    sessionId,
    title: session.title ?? titleOf(state) ?? NEW_TITLE,
    version,
    executionStatus: state.status,
    isRunning: isGoingOn(state.status),
    isFork: forkedFrom !== undefined,
    agentId: state.agentId,
    agentLabel: definition.label ?? definition.name,
    forkedFrom,
    maxSteps,
    messageCount: state.messages.length,
    execution: toExecutionView(state),
    steps: toStepViews(state),
    tools: stepsOf(state).flatMap((step, index) =>
      step.toolExecutions.map((tool) => toToolView(tool, index + 1)),
    ),
    messages: toMessageViews(state),
  };
}

function toExecutionView(state: AgentState): ExecutionView | undefined {
  const { execution } = state;
  if (execution === undefined) return undefined;
  return {
    executionId: execution.executionId,
    number: Math.max(1, state.executionCount),
    status: execution.status,
    startedAt: execution.startedAt,
    seconds: state.executionDuration,
    decision: decisionOf(execution),
    signals: execution.continuation.signals,
    errors: state.errors,
    spent: {
      steps: state.stepCount,
      tokens: toTokensView(state.usage),
      workedSeconds: execution.workedSeconds,
    },
  };
}

function decisionOf({ status, continuation, hasToolCalls }: NonNullable<AgentState['execution']>): string {
  return status === 'failed' ? 'stop: the run failed' : continuation.explain(hasToolCalls);
}

function toStepViews({ execution, currentStep, stepExecutions, stepCount }: AgentState): readonly StepView[] {
  const finished = stepExecutions
    .toArray()
    .map(({ step, startedAt, duration }, index) => toStepView(step, index + 1, startedAt, duration));
  if (execution === undefined || currentStep === undefined) return finished;
  const { currentStepStartedAt = execution.startedAt } = execution;
  return [...finished, toStepView(currentStep, stepCount, currentStepStartedAt)];
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
  const all = state.messages.toArray();
  const from = Math.max(0, all.length - LISTED_MESSAGES);
  const numberOf = stepNumbers(state);
  for (const message of all.slice(0, from)) numberOf(message);
  return all.slice(from).map((message) => ({
    id: message.id,
    role: message.role,
    summary: summaryOf(message),
    stepNumber: numberOf(message),
    isTrace: isTrace(message),
  }));
}

/** Returns a function that numbers the steps of each execution. Of earlier executions only the messages are known. */
function stepNumbers(state: AgentState): (message: Message) => number | undefined {
  const steps = new Map<string, string[]>();
  if (state.executionId)
    steps.set(
      state.executionId,
      stepsOf(state).map(({ id }) => id),
    );
  return (message) => {
    const [executionId, stepId] = [executionIdOf(message), message.metadata?.['step_id']];
    if (executionId === undefined || typeof stepId !== 'string') return undefined;
    const known = steps.get(executionId) ?? [];
    steps.set(executionId, known);
    if (!known.includes(stepId)) known.push(stepId);
    return known.indexOf(stepId) + 1;
  };
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
