import { callAfter } from '../../clock.ts';
import { backoff } from '../../backoff.ts';
import { describeValue, hasErrorCode, HoldfastError, invalidArgument } from '../../errors.ts';
import { toJsonObject, toJsonValue, type JsonValue } from '../../json.ts';
import type { ToolCallPart, ToolOutput } from '../../state/messages/messages.ts';
import { isAgentStop, type StopSignal } from '../../state/execution/continuation.ts';
import { toErrorRecord, type ErrorRecord } from '../../state/values/error-record.ts';
import type { ToolExecution } from '../../state/tools/tool-execution.ts';
import {
  checkedOutcome,
  interruptedOutcome,
  interruptedWith,
  type ToolOutcome,
} from '../../state/tools/tool-outcome.ts';
import { abortKind, CallSuspended, canAbort, unlessAborted } from '../stopping/abort.ts';
import { truncate } from '../tools/truncate.ts';
import { RESUMABLE_GRACE_SECONDS, withinGrace } from '../stopping/grace.ts';
import { runningToolOf, type RunningTool } from './running-tool.ts';
import type { Tool } from '../tools/tool-types.ts';
import type { ToolContext } from '../tools/tool-context.ts';
import { isPause } from '../tools/tool-checks.ts';
import { ToolResult } from '../tools/tool-result.ts';

export interface AttemptOptions {
  readonly tools: ReadonlyMap<string, Tool>;
  /** The longest value, in characters, that is not truncated. */
  readonly maxResultLength: number;
}

/** The result of one attempt at a call. */
export interface AttemptResult {
  /** Checked and frozen. */
  readonly outcome: ToolOutcome;
  /** The stop signal of the tool, when it threw `AgentStop`. */
  readonly stop?: StopSignal;
  /** Seconds until the next attempt, when the tool threw and its `retry` allows another attempt. */
  readonly retryAfterSeconds?: number;
}

/**
 * Runs one attempt at a call with checked arguments. Never rejects: an unknown tool, an error and a timeout become
 * outcomes that the model can read. An abort makes the call `interrupted`, because it may have had its effect. Returns
 * `undefined` when a resumable tool leaves its call open for another process.
 */
export async function runAttempt(
  execution: ToolExecution,
  args: unknown,
  context: RunningTool,
  options: AttemptOptions,
): Promise<AttemptResult | undefined> {
  const { signal, runSignal } = context;
  const tool = options.tools.get(execution.call.toolName);
  const attempt: RunningAttempt = { execution, running: undefined };
  try {
    if (tool === undefined) throw toolNotFound(execution.call.toolName, options.tools.keys());
    const isUnbounded = tool.timeoutSeconds === undefined && !canAbort(signal);
    const returned = await (isUnbounded
      ? startAttempt(attempt, tool, args, context)
      : withinTime(tool, context, async (within) =>
          untilAborted(tool, async () => startAttempt(attempt, tool, args, within), within),
        ));
    attempt.running = undefined;
    const outcome = outcomeOfReturned(tool, returned, execution.call, options);
    if (!(outcome instanceof Promise)) return { outcome };
    return { outcome: await outcomeInTime(outcome, execution, context) };
  } catch (error) {
    const isAbort = [signal, runSignal].some(({ aborted, reason }) => aborted && error === reason);
    if (isAgentStop(error) && !isAbort) {
      const { reason, message } = error.signal;
      const value = toJsonValue({ stop: { reason, message } });
      return { outcome: Object.freeze({ type: 'succeeded', value }), stop: error.signal };
    }
    const hasBegun = attempt.running !== undefined || !isAbort;
    if (error instanceof CallSuspended) return undefined;
    if (isHandedOver(runSignal) && (tool?.isResumable || !hasBegun)) return undefined;
    if (signal.aborted)
      return {
        outcome:
          hasBegun || execution.attempt > 1 ? interruptedOutcome(execution) : notCalledOutcome(execution),
      };
    return failureOf(error, attempt.running, execution, options);
  }
}

/** Returns an outcome with a model output that takes time. After an abort of the run, the model output has a grace. */
function outcomeInTime(
  outcome: Promise<ToolOutcome>,
  execution: ToolExecution,
  { signal, clock }: RunningTool,
): Promise<ToolOutcome> {
  return withinGrace(outcome, { signal, clock, onTimeout: () => interruptedOutcome(execution) });
}

/** One attempt at a call. */
interface RunningAttempt {
  readonly execution: ToolExecution;
  /** The tool, while its `execute` runs. */
  running: Tool | undefined;
}

function startAttempt(attempt: RunningAttempt, tool: Tool, args: unknown, context: ToolContext): unknown {
  if (tool.validateAnswer) {
    runningToolOf(context)?.waitForAnswer(tool.answerTimeoutSeconds);
    throw new CallSuspended();
  }
  attempt.running = tool;
  return tool.execute(args, context);
}

/** The outcome of a failed attempt. Only an error of a `running` tool can lead to another attempt. */
function failureOf(
  error: unknown,
  running: Tool | undefined,
  { name, attempt }: ToolExecution,
  { maxResultLength }: AttemptOptions,
): AttemptResult {
  const failed = (thrown: unknown): ToolOutcome => failedOutcome(name, thrown, maxResultLength);
  try {
    const retryAfterSeconds = pauseBeforeRetry(running, attempt, error);
    return { outcome: failed(error), ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
  } catch (problem) {
    return { outcome: failed(cannotRetry(problem, error)) };
  }
}

/** The outcome of a call that failed with an error. */
export function failedOutcome(toolName: string, thrown: unknown, maxLength: number): ToolOutcome {
  const error = truncateError(toErrorRecord(asToolError(toolName, thrown)), maxLength);
  return Object.freeze({ type: 'failed', error });
}

/** The outcome of a call that did not start before the run was aborted. */
function notCalledOutcome({ name }: ToolExecution): ToolOutcome {
  return interruptedWith(`Tool "${name}" was not called: the run was stopped before.`);
}

/**
 * The outcome of a returned value. The error for a value that is not JSON states that the tool has run, so the model
 * does not repeat the call.
 */
function outcomeOfReturned(
  tool: Tool,
  returned: unknown,
  call: ToolCallPart,
  options: AttemptOptions,
): ToolOutcome | Promise<ToolOutcome> {
  try {
    return succeededOutcome(tool, returned, call, options);
  } catch (cause) {
    if (!hasErrorCode(cause, 'NOT_JSON')) throw cause;
    const why = (cause as Error).message;
    const message = `Tool "${tool.name}" was called and completed, but its result is not JSON: ${why}`;
    throw new HoldfastError('NOT_JSON', message, { cause });
  }
}

/**
 * The outcome of a value that a tool returned, with its model output. @throws HoldfastError `NOT_JSON`, `TOOL_FAILED`
 */
export function succeededOutcome(
  tool: Tool,
  returned: unknown,
  { toolCallId, input }: ToolCallPart,
  { maxResultLength }: AttemptOptions,
): ToolOutcome | Promise<ToolOutcome> {
  const given = returned instanceof ToolResult ? returned : undefined;
  const whole = toJsonValue(requireRead(tool, given ? given.value : returned));
  const value = maxResultLength === Infinity ? whole : truncate(whole, maxResultLength);
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
  return checkedOutcome({
    type: 'succeeded',
    value,
    ...(modelOutput && { modelOutput }),
    ...(given?.metadata && { metadata: toJsonObject(given.metadata) }),
  });
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

function truncateError(record: ErrorRecord, maxLength: number): ErrorRecord {
  const message = truncate(record.message, maxLength) as string;
  return message === record.message ? record : Object.freeze({ ...record, message });
}

/** Runs the work within the timeout of the tool, until it completes or the run is aborted. */
async function withinTime(
  { name, timeoutSeconds }: Tool,
  context: ToolContext,
  work: (context: ToolContext) => Promise<unknown>,
): Promise<unknown> {
  const { signal, clock } = context;
  signal.throwIfAborted();
  if (timeoutSeconds === undefined) return work(context);
  const limit = new AbortController();
  const disarm = callAfter(clock, timeoutSeconds * 1000, () => {
    const message = `Tool "${name}" exceeded its timeout of ${timeoutSeconds} seconds. It may still have had its effect.`;
    limit.abort(new HoldfastError('TOOL_TIMEOUT', message));
  });
  try {
    return await work({ ...context, signal: eitherOf(signal, limit.signal) });
  } finally {
    disarm();
  }
}

/** The result of the tool, unless its signal aborts first. A resumable tool then has grace to save its progress. */
function untilAborted(
  tool: Tool,
  start: () => Promise<unknown>,
  { signal, clock }: ToolContext,
): Promise<unknown> {
  if (!tool.isResumable) return unlessAborted(start(), signal);
  return withinGrace(start(), { signal, clock, graceSeconds: RESUMABLE_GRACE_SECONDS });
}

function eitherOf(one: AbortSignal, other: AbortSignal): AbortSignal {
  if (!canAbort(one) || one === other) return other;
  return canAbort(other) ? AbortSignal.any([one, other]) : one;
}

/** True when another process continues the execution. */
function isHandedOver(signal: AbortSignal): boolean {
  const kind = abortKind(signal);
  return kind === 'yield' || kind === 'lost';
}

const PAUSES_SECONDS = { first: 1, longest: 60 };

/** The seconds to wait before the next attempt; `undefined` when there is no further attempt. */
function pauseBeforeRetry(tool: Tool | undefined, attempt: number, error: unknown): number | undefined {
  const { retry } = tool ?? {};
  if (retry === undefined || attempt >= retry.maxAttempts || retry.isRetryable?.(error) === false)
    return undefined;
  const { delaySeconds = backoff(PAUSES_SECONDS, attempt) } = retry;
  const seconds: unknown = typeof delaySeconds === 'function' ? delaySeconds(attempt) : delaySeconds;
  if (isPause(seconds)) return seconds;
  throw invalidArgument(
    `retry.delaySeconds must return a number of seconds, found ${describeValue(seconds)}.`,
  );
}

/** The error of the tool and the error of its `retry` in one message. */
function cannotRetry(problem: unknown, cause: unknown): Error {
  const [reason, why] = [toErrorRecord(cause).message, toErrorRecord(problem).message];
  return Object.assign(invalidArgument(`${reason} There was no retry, because \`retry\` failed: ${why}`), {
    cause,
  });
}

function asToolError(name: string, error: unknown): unknown {
  if (error instanceof Error) return error;
  return new HoldfastError('TOOL_FAILED', `Tool "${name}" threw a value that is not an Error.`, {
    cause: error,
  });
}

/** The error for a call of an unknown tool. */
export function toolNotFound(name: string, known: Iterable<string>): HoldfastError {
  const names = [...known].join(', ') || 'none';
  return new HoldfastError('TOOL_NOT_FOUND', `Unknown tool "${name}". Known tools: ${names}.`);
}
