import type { Clock } from '../clock.ts';
import { callAfter } from '../clock.ts';
import { HoldfastError } from '../errors.ts';
import { checked, toJsonValue } from '../json.ts';
import type { AgentState } from '../state/agent-state.ts';
import type { StopSignal } from '../state/continuation.ts';
import { isAgentStop } from '../state/continuation.ts';
import { toErrorRecord } from '../state/error-record.ts';
import { readToolOutput } from '../state/messages.ts';
import type { ToolExecution } from '../state/tool-execution.ts';
import type { ToolOutcome } from '../state/tool-outcome.ts';
import { NEVER, unlessAborted } from './abort.ts';
import type { Tool } from './tool.ts';
import { toolNotFound } from './tool.ts';

export interface ToolRunOptions {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly state: AgentState;
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/** A call that has ended, and the signal if it ended by telling the execution to stop. */
export interface FinishedTool {
  readonly toolExecution: ToolExecution;
  readonly stop?: StopSignal;
}

/**
 * Carries a call out. Never rejects: an unknown tool, bad arguments, a throw, a time-out are outcomes that the
 * model can read. An abort leaves the call `interrupted`: it may have had its effect.
 */
export async function runTool(execution: ToolExecution, options: ToolRunOptions): Promise<FinishedTool> {
  const finish = (outcome: ToolOutcome): ToolExecution => execution.withOutcome(outcome, options.clock.now());
  try {
    return { toolExecution: finish(await carryOut(execution, options)) };
  } catch (error) {
    const isAbort = options.signal.aborted && error === options.signal.reason;
    if (isAgentStop(error) && !isAbort) {
      const { reason, message } = error.signal;
      return {
        toolExecution: finish({ type: 'succeeded', value: toJsonValue({ stop: { reason, message } }) }),
        stop: error.signal,
      };
    }
    if (options.signal.aborted) return { toolExecution: finish(interrupted(execution)) };
    return {
      toolExecution: finish({ type: 'failed', error: toErrorRecord(asToolError(execution.name, error)) }),
    };
  }
}

/** The outcome of a call that was started and of which nothing more is known. */
export function interrupted({ name }: ToolExecution): ToolOutcome {
  const message = `Tool "${name}" was started and interrupted: whether it had its effect is unknown.`;
  return { type: 'interrupted', error: toErrorRecord(new HoldfastError('TOOL_INTERRUPTED', message)) };
}

async function carryOut(execution: ToolExecution, options: ToolRunOptions): Promise<ToolOutcome> {
  const { call } = execution;
  const found = options.tools.get(call.toolName);
  if (found === undefined) throw toolNotFound(call.toolName, options.tools.keys());
  if (call.invalid !== undefined) throw badArguments(call.toolName, call.invalid);
  const validation = found.validate(call.input);
  const validated = validation instanceof Promise ? await validation : validation;
  if ('problem' in validated) throw badArguments(call.toolName, validated.problem);
  const { id: idempotencyKey, attempt } = execution;
  const context = { toolCallId: call.toolCallId, idempotencyKey, attempt, state: options.state };
  const execute = (signal: AbortSignal): unknown => found.execute(validated.value, { ...context, signal });
  const isUnbounded = found.timeoutSeconds === undefined && options.signal === NEVER;
  const value = toJsonValue(await (isUnbounded ? execute(NEVER) : withinTime(found, options, execute)));
  if (found.toModelOutput === undefined) return { type: 'succeeded', value };
  return {
    type: 'succeeded',
    value,
    modelOutput: checked('output for the model', found.toModelOutput(value), readToolOutput),
  };
}

/** Runs the work until it ends, the run is aborted, or the tool's time is up. */
async function withinTime(
  { name, timeoutSeconds }: Tool,
  { signal, clock }: ToolRunOptions,
  work: (signal: AbortSignal) => unknown,
): Promise<unknown> {
  signal.throwIfAborted();
  if (timeoutSeconds === undefined) return unlessAborted(started(work, signal), signal);
  const limit = new AbortController();
  const disarm = callAfter(clock, timeoutSeconds * 1000, () => {
    const message = `Tool "${name}" took longer than ${timeoutSeconds} seconds; whether it had its effect is unknown.`;
    limit.abort(new HoldfastError('TOOL_TIMEOUT', message));
  });
  const either = signal === NEVER ? limit.signal : AbortSignal.any([signal, limit.signal]);
  try {
    return await unlessAborted(started(work, either), either);
  } finally {
    disarm();
  }
}

async function started(work: (signal: AbortSignal) => unknown, signal: AbortSignal): Promise<unknown> {
  return work(signal);
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
