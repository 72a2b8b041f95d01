import { callAfter } from '../clock.ts';
import { HoldfastError } from '../errors.ts';
import type { JsonValue } from '../json.ts';
import { toJsonObject, toJsonValue } from '../json.ts';
import type { StopSignal } from '../state/continuation.ts';
import { isAgentStop } from '../state/continuation.ts';
import { toErrorRecord } from '../state/error-record.ts';
import type { ErrorRecord } from '../state/error-record.ts';
import type { ToolExecution } from '../state/tool-execution.ts';
import { checkedOutcome } from '../state/tool-outcome.ts';
import type { ToolOutcome } from '../state/tool-outcome.ts';
import { abortKind, NEVER, unlessAborted } from './abort.ts';
import type { Tool, ToolContext } from './tool.ts';
import { toolNotFound, ToolResult } from './tool.ts';

export interface ToolRunOptions {
  readonly tools: ReadonlyMap<string, Tool>;
  /** Characters that a value may have before it is cut. */
  readonly maxResultLength: number;
}

/** How one try of a call ended. */
export interface FinishedTool {
  /** Checked and frozen. */
  readonly outcome: ToolOutcome;
  /** It told the execution to stop. */
  readonly stop?: StopSignal;
  /** It threw, and its tool wants another try. */
  readonly retryAfterSeconds?: number;
}

/**
 * Tries a call once. Never rejects: an unknown tool, bad arguments, a throw, a time-out are outcomes that the
 * model can read. An abort leaves the call `interrupted`: it may have had its effect. `undefined` when a resumable tool
 * has left its call to another process.
 */
export async function runTool(
  execution: ToolExecution,
  context: ToolContext,
  options: ToolRunOptions,
): Promise<FinishedTool | undefined> {
  const { signal } = context;
  const tool = options.tools.get(execution.call.toolName);
  /** Set while it runs: only what it throws itself may be gone with another try. */
  let running: Tool | undefined;
  try {
    const validation = validated(execution, tool, options);
    const args = acceptedBy(
      execution,
      validation instanceof Promise ? await unlessAborted(validation, signal) : validation,
    );
    running = tool as Tool;
    const isUnbounded = running.timeoutSeconds === undefined && signal === NEVER;
    const returned = await (isUnbounded
      ? running.execute(args, context)
      : withinTime(running, args, context));
    running = undefined;
    return { outcome: succeeded(tool as Tool, returned, options) };
  } catch (error) {
    const isAbort = signal.aborted && error === signal.reason;
    if (isAgentStop(error) && !isAbort) {
      const { reason, message } = error.signal;
      const value = toJsonValue({ stop: { reason, message } });
      return { outcome: Object.freeze({ type: 'succeeded', value }), stop: error.signal };
    }
    if (tool?.isResumable && isLeft(signal)) return undefined;
    if (signal.aborted) return { outcome: interrupted(execution) };
    const record = shortened(toErrorRecord(asToolError(execution.name, error)), options.maxResultLength);
    const outcome: ToolOutcome = Object.freeze({ type: 'failed', error: record });
    const retryAfterSeconds = pauseBeforeRetry(running, execution.attempt, error);
    return retryAfterSeconds === undefined ? { outcome } : { outcome, retryAfterSeconds };
  }
}

/** The outcome of a call that was started and of which nothing more is known. */
export function interrupted({ name }: ToolExecution): ToolOutcome {
  const message = `Tool "${name}" was started and interrupted: whether it had its effect is unknown.`;
  const error = toErrorRecord(new HoldfastError('TOOL_INTERRUPTED', message));
  return Object.freeze({ type: 'interrupted', error });
}

function validated(
  { call }: ToolExecution,
  tool: Tool | undefined,
  { tools }: ToolRunOptions,
): ReturnType<Tool['validate']> {
  if (tool === undefined) throw toolNotFound(call.toolName, tools.keys());
  return call.invalid === undefined ? tool.validate(call.input) : { problem: call.invalid };
}

function acceptedBy({ name }: ToolExecution, validation: Awaited<ReturnType<Tool['validate']>>): unknown {
  if ('problem' in validation) throw badArguments(name, validation.problem);
  return validation.value;
}

function succeeded(tool: Tool, returned: unknown, { maxResultLength }: ToolRunOptions): ToolOutcome {
  const given = returned instanceof ToolResult ? returned : undefined;
  const whole = toJsonValue(given ? given.value : returned);
  const value = maxResultLength === Infinity ? whole : cut(whole, maxResultLength);
  const shown = given?.modelOutput ?? (value === whole ? tool.toModelOutput?.(value) : undefined);
  if (shown === undefined && given?.metadata === undefined)
    return Object.freeze({ type: 'succeeded', value });
  return checkedOutcome({
    type: 'succeeded',
    value,
    ...(shown && { modelOutput: shown }),
    ...(given?.metadata && { metadata: toJsonObject(given.metadata) }),
  });
}

function shortened(record: ErrorRecord, maxLength: number): ErrorRecord {
  const message = cut(record.message, maxLength) as string;
  return message === record.message ? record : Object.freeze({ ...record, message });
}

/** A value that is too long becomes a text with its beginning, which says how much is missing. */
function cut(value: JsonValue, maxLength: number): JsonValue {
  if (typeof value !== 'string' && (typeof value !== 'object' || value === null)) return value;
  if (remainingAfter(value, maxLength) >= 0) return value;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (text.length <= maxLength) return value;
  const shown = text.slice(0, maxLength).toWellFormed();
  return `${shown}\n[Cut: the first ${maxLength} of ${text.length} characters are shown.]`;
}

/** What is left of so many characters after a value as JSON in its longest form; negative when it might not fit. */
function remainingAfter(value: JsonValue, length: number): number {
  if (typeof value === 'string') return length - LONGEST_ESCAPE * value.length - 2;
  if (typeof value !== 'object' || value === null) return length - LONGEST_NUMBER;
  let rest = length - 2;
  for (const [name, member] of Object.entries(value)) {
    if (rest < 0) break;
    rest = remainingAfter(member, rest - LONGEST_ESCAPE * name.length - 4);
  }
  return rest;
}

/** `\u0000`. */
const LONGEST_ESCAPE = 6;
/** `-1.2345678901234567e-100`. */
const LONGEST_NUMBER = 24;

/** Runs the tool until it ends, the run is aborted, or its time is up. */
async function withinTime(tool: Tool, args: unknown, context: ToolContext): Promise<unknown> {
  const { signal, clock } = context;
  const { name, timeoutSeconds } = tool;
  signal.throwIfAborted();
  if (timeoutSeconds === undefined) return ended(tool, args, context);
  const limit = new AbortController();
  const disarm = callAfter(clock, timeoutSeconds * 1000, () => {
    const message = `Tool "${name}" took longer than ${timeoutSeconds} seconds; whether it had its effect is unknown.`;
    limit.abort(new HoldfastError('TOOL_TIMEOUT', message));
  });
  const either = signal === NEVER ? limit.signal : AbortSignal.any([signal, limit.signal]);
  try {
    return await ended(tool, args, { ...context, signal: either });
  } finally {
    disarm();
  }
}

/** What the tool comes to, unless its signal aborts first. A resumable one is waited for: it has something to say yet. */
function ended(tool: Tool, args: unknown, context: ToolContext): Promise<unknown> {
  const result = started(tool, args, context);
  return tool.isResumable ? result : unlessAborted(result, context.signal);
}

async function started(tool: Tool, args: unknown, context: ToolContext): Promise<unknown> {
  return tool.execute(args, context);
}

/** Is another process to go on with it? */
function isLeft(signal: AbortSignal): boolean {
  const kind = abortKind(signal);
  return kind === 'yield' || kind === 'lost';
}

const MAX_PAUSE_SECONDS = 60;

function pauseBeforeRetry(tool: Tool | undefined, attempt: number, error: unknown): number | undefined {
  const { retry } = tool ?? {};
  if (retry === undefined || attempt >= retry.maxAttempts) return undefined;
  try {
    if (retry.isRetryable?.(error) === false) return undefined;
    const { delaySeconds } = retry;
    if (typeof delaySeconds === 'number') return delaySeconds;
    return delaySeconds ? delaySeconds(attempt) : Math.min(2 ** (attempt - 1), MAX_PAUSE_SECONDS);
  } catch {
    return undefined;
  }
}

function badArguments(name: string, problem: string): HoldfastError {
  return new HoldfastError(
    'TOOL_ARGUMENTS_INVALID',
    `The arguments of tool "${name}" are not valid: ${problem}.`,
  );
}

function asToolError(name: string, error: unknown): unknown {
  if (error instanceof Error) return error;
  return new HoldfastError('TOOL_FAILED', `Tool "${name}" threw something that is not an error.`, {
    cause: error,
  });
}
