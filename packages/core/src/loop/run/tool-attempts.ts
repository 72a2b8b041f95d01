import { backoff } from '../../backoff.ts';
import { callAfter, pause } from '../../clock.ts';
import { describeValue, HoldfastError, invalidArgument } from '../../errors.ts';
import type { AgentState } from '../../state/agent-state.ts';
import { isAgentStop, type StopSignal } from '../../state/execution/continuation.ts';
import { ToolExecution } from '../../state/tools/tool-execution.ts';
import { executionWithId } from '../../state/tools/tool-executions.ts';
import type { ToolOutcome } from '../../state/tools/tool-outcome.ts';
import { toErrorRecord } from '../../state/values/error-record.ts';
import { canRunTools, stepAtWork } from '../steps/stepper.ts';
import { abortKind, CallSuspended, canAbort, eitherSignal, unlessAborted } from '../stopping/abort.ts';
import { RESUMABLE_GRACE_SECONDS, withinGrace } from '../stopping/grace.ts';
import {
  failedOutcome,
  interruptedCall,
  notCalledOutcome,
  outcomeOfReturned,
  stoppedOutcome,
  toolNotFound,
  withReport,
} from '../tools/call-outcome.ts';
import { argumentsOfAttempt } from '../tools/tool-arguments.ts';
import { isPause } from '../tools/tool-checks.ts';
import type { ToolContext } from '../tools/tool-context.ts';
import type { Tool, ToolRetry } from '../tools/tool-types.ts';
import { RunningTool, type ToolRun } from './running-tool.ts';
import { admitByRule, type Admission, type StartedCall } from './tool-admission.ts';

/** The end of an attempt, or of all attempts at a call. */
export interface CallEnd {
  /** Checked and frozen. */
  readonly outcome: ToolOutcome;
  /** The stop signal of the tool, when it threw `AgentStop`. */
  readonly stop?: StopSignal;
  /** Seconds until the next attempt, when the tool threw and its `retry` allows another attempt. */
  readonly retryAfterSeconds?: number;
}

interface Attempt {
  readonly tool: Tool | undefined;
  readonly execution: ToolExecution;
  readonly args: unknown;
  readonly context: RunningTool;
  isExecuting: boolean;
}

/**
 * Runs the attempts at a started call until its outcome is final. An error of the tool becomes an outcome. Returns
 * `undefined` when the call stays open for another process.
 */
export async function runAttempts(
  run: ToolRun,
  { execution: first, args }: StartedCall,
  toolSignal: AbortSignal,
): Promise<CallEnd | undefined> {
  const tool = run.loop.tools.get(first.name);
  const signal = tool?.isResumable ? run.signals.current : toolSignal;
  const asksFirst = run.checkpointer.isEnabled && tool?.effect !== 'readOnly';
  let execution = first;
  for (;;) {
    if (asksFirst && !(await run.checkpointer.mayAct())) return undefined;
    const given = argumentsOfAttempt(args);
    const context = new RunningTool(run, execution, signal);
    const attempt: Attempt = { tool, execution, args: given, context, isExecuting: false };
    let end: CallEnd | undefined;
    try {
      const outcome = outcomeOfAttempt(run, attempt, await executed(run, attempt));
      end = { outcome: outcome instanceof Promise ? await outcome : outcome };
    } catch (error) {
      end = endOfThrown(error, run, attempt);
    } finally {
      context.end();
    }
    if (tool === undefined || end?.retryAfterSeconds === undefined) return end;
    const next = await nextAttempt(run, tool, { execution, args }, end, toolSignal);
    if (!(next instanceof ToolExecution)) return next;
    execution = next;
    if (asksFirst) await run.checkpointer.save('intent');
  }
}

/** The end of a call after an error that `execute` did not throw, such as one of a getter of the tool. */
export function endOfFailure(error: unknown): CallEnd {
  return { outcome: Object.freeze({ type: 'failed', error: toErrorRecord(error) }) };
}

/** Executes the tool of an attempt, with its limits. @throws HoldfastError for an unknown tool. */
function executed(run: ToolRun, attempt: Attempt): unknown {
  const { tool, execution, context } = attempt;
  if (tool === undefined) throw toolNotFound(execution.name, run.loop.tools.keys());
  const isUnbounded = tool.timeoutSeconds === undefined && !canAbort(context.signal);
  return isUnbounded ? execute(attempt, tool, context) : executeInTime(run, attempt, tool);
}

/** The outcome of what the tool returned. A model output that takes time has a grace after an abort of the run. */
function outcomeOfAttempt(
  run: ToolRun,
  attempt: Attempt,
  returned: unknown,
): ToolOutcome | Promise<ToolOutcome> {
  const { execution, context } = attempt;
  const tool = attempt.tool as Tool; // it was executed
  attempt.isExecuting = false;
  const outcome = outcomeOfReturned(tool, returned, execution.call, run.loop.maxResultLength);
  if (!(outcome instanceof Promise)) return outcome;
  const { signal, clock } = context;
  const onTimeout = (): ToolOutcome => interruptedCall(tool, latestExecution(run.state, execution));
  return withinGrace(outcome, { signal, clock, onTimeout });
}

function execute(attempt: Attempt, tool: Tool, within: ToolContext): unknown {
  if (tool.validateAnswer) {
    attempt.context.waitForAnswer(tool.answerTimeoutSeconds);
    throw new CallSuspended();
  }
  attempt.isExecuting = true;
  return tool.execute(attempt.args, within);
}

/** Executes the tool within its timeout, in which a sleep of the machine does not count, until it completes or the run is aborted. */
async function executeInTime({ clock }: ToolRun, attempt: Attempt, tool: Tool): Promise<unknown> {
  const { context } = attempt;
  const { name, timeoutSeconds } = tool;
  context.signal.throwIfAborted();
  if (timeoutSeconds === undefined) return executeUntilAborted(attempt, tool, context);
  const limit = new AbortController();
  const disarm = callAfter(clock, timeoutSeconds * 1000, () => {
    const message = `Tool "${name}" exceeded its timeout of ${timeoutSeconds} seconds. It may still have had its effect.`;
    limit.abort(new HoldfastError('TOOL_TIMEOUT', message));
  });
  try {
    const signal = eitherSignal(context.signal, limit.signal);
    return await executeUntilAborted(attempt, tool, { ...context, signal });
  } finally {
    disarm();
  }
}

/** The result of the tool, unless its signal aborts first. A resumable tool then has grace to save its progress. */
function executeUntilAborted(attempt: Attempt, tool: Tool, within: ToolContext): Promise<unknown> {
  const { signal, clock } = within;
  const returned = new Promise((resolve) => resolve(execute(attempt, tool, within)));
  if (!tool.isResumable) return unlessAborted(returned, signal);
  return withinGrace(returned, { signal, clock, graceSeconds: RESUMABLE_GRACE_SECONDS });
}

/**
 * The end of an attempt that threw. An unknown tool, an error and a timeout become outcomes that the model can read. An
 * abort makes the call `interrupted`, because it may have had its effect. Returns `undefined` when a resumable tool leaves
 * its call open for another process.
 */
function endOfThrown(thrown: unknown, run: ToolRun, attempt: Attempt): CallEnd | undefined {
  const { tool, context, isExecuting } = attempt;
  const execution = latestExecution(run.state, attempt.execution);
  const { signal, runSignal } = context;
  const isAbort = [signal, runSignal].some(({ aborted, reason }) => aborted && thrown === reason);
  if (isAgentStop(thrown) && !isAbort) return { outcome: stoppedOutcome(thrown.signal), stop: thrown.signal };
  const hasBegun = isExecuting || !isAbort;
  if (thrown instanceof CallSuspended) return undefined;
  const kind = abortKind(runSignal);
  if ((kind === 'yield' || kind === 'lost') && (tool?.isResumable || !hasBegun)) return undefined;
  if (!signal.aborted) return failedEnd(thrown, { ...attempt, execution }, run.loop.maxResultLength);
  const mayHaveEffect = hasBegun || execution.attempt > 1;
  return { outcome: mayHaveEffect ? interruptedCall(tool, execution) : notCalledOutcome(execution.name) };
}

/** The end of a failed attempt. Only an error of an executing tool can lead to another attempt. */
function failedEnd(thrown: unknown, { tool, execution, isExecuting }: Attempt, maxLength: number): CallEnd {
  const { name, attempt } = execution;
  try {
    const retryAfterSeconds = isExecuting ? pauseBeforeRetry(tool?.retry, attempt, thrown) : undefined;
    const outcome = failedOutcome(name, withReport(thrown, tool, execution), maxLength);
    return retryAfterSeconds === undefined ? { outcome } : { outcome, retryAfterSeconds };
  } catch (problem) {
    const [reason, why] = [toErrorRecord(thrown).message, toErrorRecord(problem).message];
    const error = invalidArgument(`${reason} There was no retry, because \`retry\` failed: ${why}`);
    return { outcome: failedOutcome(name, Object.assign(error, { cause: thrown }), maxLength) };
  }
}

const PAUSES_SECONDS = { first: 1, longest: 60 };

/** The seconds to wait before the next attempt; `undefined` when there is no further attempt. */
function pauseBeforeRetry(retry: ToolRetry | undefined, attempt: number, error: unknown): number | undefined {
  if (retry === undefined || attempt >= retry.maxAttempts || retry.isRetryable?.(error) === false)
    return undefined;
  const { delaySeconds = backoff(PAUSES_SECONDS, attempt) } = retry;
  const seconds: unknown = typeof delaySeconds === 'function' ? delaySeconds(attempt) : delaySeconds;
  if (isPause(seconds)) return seconds;
  throw invalidArgument(
    `retry.delaySeconds must return a number of seconds, found ${describeValue(seconds)}.`,
  );
}

/**
 * Starts the next attempt of a call after its pause, or returns the end of the call without one. Returns `undefined` when a
 * person must approve the attempt.
 */
async function nextAttempt(
  run: ToolRun,
  tool: Tool,
  { execution: last, args }: StartedCall,
  end: CallEnd,
  toolSignal: AbortSignal,
): Promise<ToolExecution | CallEnd | undefined> {
  const { retryAfterSeconds = 0 } = end;
  const isDue = canRunTools(run) && (await pause(run.loop.clock, retryAfterSeconds * 1000, toolSignal));
  if (!isDue || !canRunTools(run)) return end;
  const failed = latestExecution(run.state, last);
  let admission: Admission;
  try {
    admission = await admitByRule(run, tool, failed, { type: 'start', execution: failed, args });
  } catch (error) {
    if (!isAgentStop(error)) throw error;
    return { outcome: end.outcome, stop: error.signal };
  }
  if (admission === undefined) return end;
  const { type, execution } = admission;
  if (type === 'end') return { outcome: execution.outcome ?? end.outcome };
  const at = run.now();
  const isStart = type === 'start';
  const toolExecution = isStart ? execution.withNextAttempt(at) : execution.withApprovalRequested(at);
  run.record([toolExecution], at);
  return isStart ? toolExecution : undefined;
}

/** The current version of the execution: its tool may have reported progress or usage. */
function latestExecution(state: AgentState, { id }: ToolExecution): ToolExecution {
  return executionWithId(stepAtWork(state)?.toolExecutions ?? [], id) as ToolExecution;
}
