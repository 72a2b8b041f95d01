import { callAfter } from '../../clock.ts';
import { describeValue, hasErrorCode, HoldfastError, invalidArgument } from '../../errors.ts';
import { toJsonObject, toJsonValue } from '../../json.ts';
import type { StopSignal } from '../../state/execution/continuation.ts';
import { isAgentStop } from '../../state/execution/continuation.ts';
import { toErrorRecord } from '../../state/values/error-record.ts';
import type { ErrorRecord } from '../../state/values/error-record.ts';
import type { ToolExecution } from '../../state/execution/tool-execution.ts';
import { checkedOutcome, interruptedOutcome, interruptedWith } from '../../state/execution/tool-outcome.ts';
import type { ToolOutcome } from '../../state/execution/tool-outcome.ts';
import { abortKind, CallSuspended, canAbort, unlessAborted } from '../stopping/abort.ts';
import { truncate } from './truncate.ts';
import { RESUMABLE_GRACE_SECONDS, withinGrace } from '../stopping/grace.ts';
import type { RunningTool } from './running-tool.ts';
import type { Tool, ToolContext } from './tool.ts';
import { isPause, toolNotFound } from './tool.ts';
import { ToolResult } from './tool-result.ts';
import type { ValidationResult } from './tool-schema.ts';

export interface AttemptOptions {
  readonly tools: ReadonlyMap<string, Tool>;
  /** Characters that a value may have before it is cut. */
  readonly maxResultLength: number;
}

/** How one try of a call ended. */
export interface AttemptResult {
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
export async function runAttempt(
  execution: ToolExecution,
  context: RunningTool,
  options: AttemptOptions,
): Promise<AttemptResult | undefined> {
  const { signal, runSignal } = context;
  const tool = options.tools.get(execution.call.toolName);
  const attempt: RunningAttempt = { execution, running: undefined };
  try {
    if (tool === undefined) throw toolNotFound(execution.call.toolName, options.tools.keys());
    const validation = validateArguments(execution, tool);
    const isUnbounded = tool.timeoutSeconds === undefined && !canAbort(signal);
    const returned = await (isUnbounded && !(validation instanceof Promise)
      ? startAttempt(attempt, tool, validation, context)
      : startWithTimeout(attempt, tool, validation, context));
    attempt.running = undefined;
    return { outcome: outcomeOfReturned(tool, returned, options) };
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

/** One try of a call. */
interface RunningAttempt {
  readonly execution: ToolExecution;
  /** Set while it runs. */
  running: Tool | undefined;
}

function startAttempt(
  attempt: RunningAttempt,
  tool: Tool,
  checked: ValidationResult<unknown>,
  context: ToolContext,
): unknown {
  const args = requireValid(attempt.execution, checked);
  attempt.running = tool;
  return tool.execute(args, context);
}

/** The same, until the run is aborted or the time of the tool is up. */
function startWithTimeout(
  attempt: RunningAttempt,
  tool: Tool,
  validation: ReturnType<Tool['validate']>,
  context: RunningTool,
): Promise<unknown> {
  return withinTime(tool, context, async (within) => {
    const checked =
      validation instanceof Promise
        ? await unlessAborted(validation, eitherOf(within.signal, context.runSignal))
        : validation;
    return untilAborted(tool, async () => startAttempt(attempt, tool, checked, within), within);
  });
}

/** Only what the tool threw itself, while it was `running`, may be gone with another try. */
function failureOf(
  error: unknown,
  running: Tool | undefined,
  { name, attempt }: ToolExecution,
  { maxResultLength }: AttemptOptions,
): AttemptResult {
  const failed = (thrown: unknown): ToolOutcome => {
    const record = truncateError(toErrorRecord(asToolError(name, thrown)), maxResultLength);
    return Object.freeze({ type: 'failed', error: record });
  };
  try {
    const retryAfterSeconds = pauseBeforeRetry(running, attempt, error);
    return { outcome: failed(error), ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
  } catch (problem) {
    return { outcome: failed(cannotRetry(problem, error)) };
  }
}

/** The outcome of a call that the end of the run has forestalled. */
function notCalledOutcome({ name }: ToolExecution): ToolOutcome {
  return interruptedWith(`Tool "${name}" was not called: the run was told to stop before.`);
}

function validateArguments({ call }: ToolExecution, tool: Tool): ReturnType<Tool['validate']> {
  return call.invalid === undefined ? tool.validate(call.input) : { problem: call.invalid };
}

function requireValid({ name }: ToolExecution, validation: Awaited<ReturnType<Tool['validate']>>): unknown {
  if ('problem' in validation) throw badArguments(name, validation.problem);
  return validation.value;
}

/** What cannot be kept does not undo what the tool has done, and the model should not think so. */
function outcomeOfReturned(tool: Tool, returned: unknown, options: AttemptOptions): ToolOutcome {
  try {
    return succeededOutcome(tool, returned, options);
  } catch (cause) {
    if (!hasErrorCode(cause, 'NOT_JSON')) throw cause;
    const why = (cause as Error).message;
    const message = `Tool "${tool.name}" was called and has ended, but its result cannot be shown: ${why}`;
    throw new HoldfastError('NOT_JSON', message, { cause });
  }
}

/** The outcome of a call that returned something, as its tool shows it. @throws HoldfastError `NOT_JSON`, `TOOL_FAILED` */
export function succeededOutcome(
  tool: Tool,
  returned: unknown,
  { maxResultLength }: AttemptOptions,
): ToolOutcome {
  const given = returned instanceof ToolResult ? returned : undefined;
  const whole = toJsonValue(requireRead(tool, given ? given.value : returned));
  const value = maxResultLength === Infinity ? whole : truncate(whole, maxResultLength);
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

/** Refuses what would be `{}` as JSON, as nobody has read its items: generators, other iterators, streams. */
function requireRead({ name }: Tool, value: unknown): unknown {
  if (!isUnread(value)) return value;
  const message = `Tool "${name}" returned a generator or stream, which is not read: its result is unknown.`;
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

/** Checks the arguments and runs the tool, until it ends, the run is aborted, or its time is up. */
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
    const message = `Tool "${name}" took longer than ${timeoutSeconds} seconds; whether it had its effect is unknown.`;
    limit.abort(new HoldfastError('TOOL_TIMEOUT', message));
  });
  try {
    return await work({ ...context, signal: eitherOf(signal, limit.signal) });
  } finally {
    disarm();
  }
}

/** What the tool comes to, unless its signal aborts first. A resumable one has some time then: it has something to say yet. */
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

/** Is another process to go on with it? */
function isHandedOver(signal: AbortSignal): boolean {
  const kind = abortKind(signal);
  return kind === 'yield' || kind === 'lost';
}

const MAX_PAUSE_SECONDS = 60;

/** The seconds to wait before another try; `undefined` when there is to be none. */
function pauseBeforeRetry(tool: Tool | undefined, attempt: number, error: unknown): number | undefined {
  const { retry } = tool ?? {};
  if (retry === undefined || attempt >= retry.maxAttempts || retry.isRetryable?.(error) === false)
    return undefined;
  const { delaySeconds = Math.min(2 ** (attempt - 1), MAX_PAUSE_SECONDS) } = retry;
  const seconds: unknown = typeof delaySeconds === 'function' ? delaySeconds(attempt) : delaySeconds;
  if (isPause(seconds)) return seconds;
  throw invalidArgument(`retry.delaySeconds gave ${describeValue(seconds)}, not a number of seconds.`);
}

/** Both what the tool threw and what is wrong with its `retry`. */
function cannotRetry(problem: unknown, cause: unknown): Error {
  const [reason, why] = [toErrorRecord(cause).message, toErrorRecord(problem).message];
  return Object.assign(invalidArgument(`${reason} It was not tried again, as \`retry\` failed: ${why}`), {
    cause,
  });
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
