import type { JsonValue } from '../json.ts';
import type { ErrorRecord } from '../state/values/error-record.ts';
import type { ExecutionState } from '../state/execution/execution.ts';
import type { ToolExecution } from '../state/tools/tool-execution.ts';
import type { ToolBlock } from '../state/tools/tool-outcome.ts';
import type { Usage } from '../state/inference/usage.ts';
import type { AgentEvent, EventSession } from '../loop/steps/events.ts';
import type { AgentEventOf } from './observe.ts';

/** The kind of a line, which determines its colour. */
export type Tone = 'heading' | 'plain' | 'detail' | 'good' | 'bad';

/** One line about a run. `level` is the indentation: 0 for the execution, 1 for a step, 2 for the events of a step. */
export interface EventLine {
  readonly level: number;
  readonly tone: Tone;
  readonly text: string;
}

/** The lines of an event; none for an event whose content other events repeat. Texts of models are not included. */
export function eventLines(event: AgentEvent, maxLength: number): readonly EventLine[] {
  switch (event.type) {
    case 'execution-started':
    case 'execution-resumed':
      return [line(0, 'heading', startInWords(event))];
    case 'execution-suspended':
    case 'execution-stopped':
    case 'execution-completed':
    case 'execution-failed':
      return endLines(event, maxLength);
    case 'step-started':
      return [line(1, 'plain', `step ${event.stepNumber}`)];
    case 'step-completed':
      return event.stepExecution.step.errors.map((error) => errorLine(2, error, maxLength));
    case 'inference-started':
      return modelLines(event);
    case 'inference-completed': {
      const { usage, finishReason } = event.response;
      return [line(2, 'detail', `${usageInWords(usage)}, ${finishReason}`)];
    }
    case 'tool-started':
      return [line(2, 'plain', `→ ${callInWords(event, maxLength)}`)];
    case 'tool-waiting':
      return [line(2, 'heading', `… ${callInWords(event, maxLength)} waits for ${waitInWords(event)}`)];
    case 'tool-completed':
    case 'tool-blocked':
      return [toolLine(event, maxLength)];
    case 'stop-signal-raised': {
      const { reason, message, source } = event.signal;
      const by = source === undefined ? '' : ` (${source})`;
      return [line(2, 'bad', `stop: ${reason}: ${truncateLine(message, maxLength)}${by}`)];
    }
    default:
      return [];
  }
}

function line(level: number, tone: Tone, text: string): EventLine {
  return { level, tone, text };
}

// Executions

const END_TONES = { suspended: 'heading', stopped: 'bad', completed: 'good', failed: 'bad' } as const;

function endLines({ state, session }: AgentEvent, maxLength: number): readonly EventLine[] {
  const execution = state.execution as ExecutionState;
  const status = execution.status as keyof typeof END_TONES;
  const why = [...execution.waiting.map(({ type }) => type), ...(state.stopReason ? [state.stopReason] : [])];
  const facts = [
    // The outline of a redacted event has no steps.
    ...(execution.stepCount > 0 ? [steps(execution.stepCount)] : []),
    usageInWords(execution.usage),
    seconds(state.executionDuration),
  ];
  const reason = why.length === 0 ? '' : ` (${why.join(', ')})`;
  const text = `■ execution ${state.executionCount}${ofSession(session)} ${status}${reason}: ${facts.join(', ')}`;
  const errors = execution.errors.map((error) => errorLine(1, error, maxLength));
  return [...errors, line(0, END_TONES[status], text)];
}

function ofSession(session: EventSession | undefined): string {
  return session === undefined ? '' : ` of session ${session.sessionId}`;
}

function startInWords({ type, state, session }: AgentEvent): string {
  const { executionCount, llmConfig, stepExecutions } = state;
  const how = type === 'execution-started' ? 'started' : `resumed after ${steps(stepExecutions.length)}`;
  const model = llmConfig?.model === undefined ? '' : ` (${llmConfig.model})`;
  return `▶ execution ${executionCount}${ofSession(session)} ${how}${model}`;
}

/** The line of a call to another model than the state names. */
function modelLines({ request, state }: AgentEventOf<'inference-started'>): readonly EventLine[] {
  const isNamed = request.llmConfig?.model === state.llmConfig?.model;
  return isNamed ? [] : [line(2, 'detail', `model ${request.model ?? 'of the driver'}`)];
}

function steps(count: number): string {
  return count === 1 ? '1 step' : `${count} steps`;
}

// Tools

type ToolEvent = AgentEvent & { readonly toolExecution: ToolExecution };

function callInWords(event: ToolEvent, maxLength: number): string {
  const { name, args, attempt } = event.toolExecution;
  const again = attempt > 1 ? ` (attempt ${attempt})` : '';
  return `${callNumber(event)}${name} ${jsonInShort(args, maxLength)}${again}`;
}

function waitInWords({ toolExecution }: ToolEvent): string {
  if (toolExecution.isAwaitingApproval) return 'approval';
  return toolExecution.waitingInside.map(({ type }) => type).join(', ') || 'a child';
}

/** The number of the call in its step, when there are several: two calls may use the same tool. */
function callNumber({ state, toolExecution }: ToolEvent): string {
  const calls = state.currentStep?.requestedToolCalls ?? [];
  const index = calls.findIndex(({ toolCallId }) => toolCallId === toolExecution.call.toolCallId);
  return calls.length > 1 && index >= 0 ? `${index + 1}. ` : '';
}

function toolLine(event: ToolEvent, maxLength: number): EventLine {
  const { name, value, error, outcome, startedAt, duration } = event.toolExecution;
  const took = startedAt === undefined ? '' : ` (${seconds(duration)})`;
  if (error === undefined)
    return line(2, 'good', `← ${callNumber(event)}${name} = ${jsonInShort(value ?? null, maxLength)}${took}`);
  const what = startedAt === undefined ? callInWords(event, maxLength) : `${callNumber(event)}${name}`;
  const end = `${outcome?.type}${event.type === 'tool-blocked' ? byHooks(event.blockedBy) : ''}`;
  return line(2, 'bad', `✗ ${what} ${end}: ${errorInWords(error, maxLength)}${took}`);
}

function byHooks(blockedBy: readonly ToolBlock[]): string {
  return blockedBy.length === 0 ? '' : ` by ${blockedBy.map(({ hook }) => hook).join(', ')}`;
}

// Words

function errorLine(level: number, error: ErrorRecord, maxLength: number): EventLine {
  return line(level, 'bad', `✗ ${errorInWords(error, maxLength)}`);
}

function errorInWords({ name, code, message }: ErrorRecord, maxLength: number): string {
  return `${code ?? name}: ${truncateLine(message, maxLength)}`;
}

function usageInWords(usage: Usage): string {
  const { inputTokens = 0, outputTokens = 0, cost, unreportedCalls, unpricedCalls } = usage;
  const words = [`${inputTokens} in`, `${outputTokens} out`];
  if (unreportedCalls > 0) words.push(`${unreportedCalls} not reported`);
  // With calls of unknown cost, the sum is a lower bound.
  if (cost !== undefined) words.push(`${unpricedCalls > 0 ? 'at least ' : ''}$${dollars(cost)}`);
  return words.join(', ');
}

function dollars(cost: number): string {
  return cost >= 0.01 || cost === 0 ? cost.toFixed(2) : cost.toPrecision(2);
}

function seconds(duration: number): string {
  return `${Number(duration.toFixed(3))} s`;
}

function jsonInShort(value: JsonValue, maxLength: number): string {
  return truncateLine(JSON.stringify(value), maxLength);
}

/** Puts a text into one line and marks its truncation. */
function truncateLine(text: string, maxLength: number): string {
  const isLong = text.length > maxLength;
  const kept = isLong ? `${text.slice(0, maxLength).toWellFormed()}…` : text;
  return kept.replaceAll(/\s+/g, ' ');
}
