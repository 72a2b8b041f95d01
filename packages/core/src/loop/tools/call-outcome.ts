import { hasErrorCode, HoldfastError } from '../../errors.ts';
import { isJsonObject, toJsonObject, toJsonValue, type JsonValue } from '../../json.ts';
import type { StopSignal } from '../../state/execution/continuation.ts';
import type { ToolExecution } from '../../state/tools/tool-execution.ts';
import {
  interruptedWith,
  outcomeAtEnd,
  succeededWith,
  type ToolOutcome,
} from '../../state/tools/tool-outcome.ts';
import type { ToolCallPart, ToolOutput } from '../../state/messages/messages.ts';
import { toErrorRecord } from '../../state/values/error-record.ts';
import { ToolResult } from './tool-result.ts';
import type { Tool } from './tool-types.ts';

/**
 * The outcome of a value that a tool returned. The error for a value that is not JSON states that the tool has run, so
 * the model does not repeat the call.
 */
export function outcomeOfReturned(
  tool: Tool,
  returned: unknown,
  call: ToolCallPart,
  maxLength: number,
): ToolOutcome | Promise<ToolOutcome> {
  try {
    return succeededOutcome(tool, returned, call, maxLength);
  } catch (cause) {
    if (!hasErrorCode(cause, 'NOT_JSON')) throw cause;
    const why = (cause as Error).message;
    const message = `Tool "${tool.name}" was called and completed, but its result is not JSON: ${why}`;
    throw new HoldfastError('NOT_JSON', message, { cause });
  }
}

/** The outcome of a successful call, with its model output. @throws HoldfastError `NOT_JSON`, `TOOL_FAILED` */
export function succeededOutcome(
  tool: Tool,
  returned: unknown,
  { toolCallId, input }: ToolCallPart,
  maxLength: number,
): ToolOutcome | Promise<ToolOutcome> {
  const given = returned instanceof ToolResult ? returned : undefined;
  const whole = toJsonValue(requireRead(tool, given ? given.value : returned));
  const value = maxLength === Infinity ? whole : truncate(whole, maxLength);
  const isWhole = value === whole && given?.modelOutput === undefined;
  const shown = isWhole ? tool.toModelOutput?.({ toolCallId, input, output: value }) : given?.modelOutput;
  return shown instanceof Promise
    ? shown.then((output) => successOf(value, output, given))
    : successOf(value, shown, given);
}

function successOf(
  value: JsonValue,
  modelOutput: ToolOutput | undefined,
  given: ToolResult | undefined,
): ToolOutcome {
  if (modelOutput === undefined && given?.metadata === undefined)
    return Object.freeze({ type: 'succeeded', value });
  return succeededWith({
    type: 'succeeded',
    value,
    ...(modelOutput && { modelOutput }),
    ...(given?.metadata && { metadata: toJsonObject(given.metadata) }),
  });
}

/** The outcome of a call whose tool stopped the execution. */
export function stoppedOutcome({ reason, message }: StopSignal): ToolOutcome {
  return Object.freeze({ type: 'succeeded', value: toJsonValue({ stop: { reason, message } }) });
}

/** The outcome of a started call that ends before its tool. The model reads what a subagent had completed. */
export function interruptedCall(tool: Tool | undefined, execution: ToolExecution): ToolOutcome {
  const outcome = outcomeAtEnd(execution);
  const report = outcome.type === 'interrupted' ? reportOf(tool, execution) : undefined;
  if (outcome.type === 'succeeded' || report === undefined) return outcome;
  return interruptedWith(`${outcome.error.message} ${report}`);
}

/** The error of a timeout, with what a subagent had completed until then. Other errors are returned as they are. */
export function withReport(thrown: unknown, tool: Tool | undefined, execution: ToolExecution): unknown {
  if (!hasErrorCode(thrown, 'TOOL_TIMEOUT')) return thrown;
  const report = reportOf(tool, execution);
  return report === undefined
    ? thrown
    : new HoldfastError('TOOL_TIMEOUT', `${(thrown as Error).message} ${report}`);
}

function reportOf(tool: Tool | undefined, { progress }: ToolExecution): string | undefined {
  try {
    return progress === undefined ? undefined : tool?.describeProgress?.(progress);
  } catch {
    return undefined; // the progress is unreadable
  }
}

/** The outcome of a call that did not start before the run was aborted. */
export function notCalledOutcome(toolName: string): ToolOutcome {
  return interruptedWith(`Tool "${toolName}" was not called: the run was stopped before.`);
}

/** The outcome of a call that failed with an error. The model reads its message, or the text of another thrown value. */
export function failedOutcome(toolName: string, thrown: unknown, maxLength: number): ToolOutcome {
  const record = toErrorRecord(thrown instanceof Error ? thrown : notAnError(toolName, thrown));
  const shown = truncate(record.message, maxLength) as string;
  const error = shown === record.message ? record : Object.freeze({ ...record, message: shown });
  return Object.freeze({ type: 'failed', error });
}

/** The error for a thrown value of another type. It quotes the value, which is not stored otherwise. */
function notAnError(toolName: string, thrown: unknown): HoldfastError {
  const { message } = toErrorRecord(thrown);
  return new HoldfastError('TOOL_FAILED', `Tool "${toolName}" threw: ${message}`);
}

/** The error for a call of an unknown tool. */
export function toolNotFound(name: string, known: Iterable<string>): HoldfastError {
  const names = [...known].join(', ') || 'none';
  return new HoldfastError('TOOL_NOT_FOUND', `Unknown tool "${name}". Known tools: ${names}.`);
}

/**
 * Refuses a value whose items no code has read, and which would be `{}` as JSON: a generator, an iterator, a stream.
 */
function requireRead({ name }: Tool, value: unknown): unknown {
  if (!isUnread(value)) return value;
  const message = `Tool "${name}" returned a generator or stream, which the loop does not read.`;
  const advice = 'The tool must return the result, or a promise of it.';
  throw new HoldfastError('TOOL_FAILED', `${message} ${advice}`);
}

function isUnread(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return false;
  return Symbol.asyncIterator in value || (Symbol.iterator in value && 'next' in value);
}

/** Truncates a value that is too long to a text of its first characters, with a note of the missing ones. */
function truncate(value: JsonValue, maxLength: number): JsonValue {
  if (typeof value !== 'string' && (typeof value !== 'object' || value === null)) return value;
  if (remainingAfter(value, maxLength) >= 0) return value;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (text.length <= maxLength) return value;
  const shown = text.slice(0, maxLength).toWellFormed();
  return `${shown}\n[Truncated: the first ${maxLength} of ${text.length} characters are shown.]`;
}

/** The remaining length after the longest JSON form of a value; negative when the value may exceed the length. */
export function remainingAfter(value: JsonValue, length: number): number {
  if (typeof value === 'string') return length - LONGEST_ESCAPE * value.length - 2;
  if (typeof value !== 'object' || value === null) return length - LONGEST_NUMBER;
  let rest = length - 2;
  if (!isJsonObject(value)) {
    for (const element of value) {
      if (rest < 0) break;
      rest = remainingAfter(element, rest - 4);
    }
    return rest;
  }
  for (const name in value) {
    if (rest < 0) break;
    rest = remainingAfter(value[name] ?? null, rest - LONGEST_ESCAPE * name.length - 4);
  }
  return rest;
}

/** `\u0000`. */
const LONGEST_ESCAPE = 6;
/** `-1.2345678901234567e-100`. */
const LONGEST_NUMBER = 24;
