import { pause } from '../../clock.ts';
import { toErrorRecord } from '../../state/values/error-record.ts';
import { isAgentStop } from '../../state/execution/continuation.ts';
import type { ToolExecution } from '../../state/tools/tool-execution.ts';
import { executionWithId } from '../../state/tools/tool-executions.ts';
import { RunningTool } from './running-tool.ts';
import type { RunState } from './run-state.ts';
import { canRunTools, stepAtWork } from '../steps/stepper.ts';
import { admitRetry, type Admission } from './tool-admission.ts';
import { argumentsOfAttempt } from '../tools/tool-arguments.ts';
import { runAttempt, type AttemptResult } from './tool-runner.ts';

/** True when a second run of the tool could do harm, or when its outcome must be saved at once. */
export function toolHasEffect({ loop }: RunState, { name }: ToolExecution): boolean {
  return loop.tools.get(name)?.effect !== 'readOnly';
}

/** True when another process can continue the call from its progress. */
export function isResumable({ loop }: RunState, { name }: ToolExecution): boolean {
  return loop.tools.get(name)?.isResumable ?? false;
}

/** The current version of the execution: its tool may have reported progress or usage. */
function latestExecution({ state }: RunState, { id }: ToolExecution): ToolExecution {
  return executionWithId(stepAtWork(state)?.toolExecutions ?? [], id) as ToolExecution;
}

/**
 * Runs the attempts of a call until its outcome is final. An error always becomes an outcome. Returns `undefined` when
 * the call stays open for another process.
 */
export async function runWithRetries(
  run: RunState,
  first: ToolExecution,
  args: unknown,
  toolSignal: AbortSignal,
): Promise<AttemptResult | undefined> {
  let context: RunningTool | undefined;
  try {
    const signal = isResumable(run, first) ? run.signal : toolSignal;
    let execution = first;
    for (;;) {
      if (
        run.checkpointer.isEnabled &&
        toolHasEffect(run, execution) &&
        !(await run.checkpointer.mayAct(run))
      )
        return undefined;
      context = new RunningTool(run, execution, signal);
      const given = argumentsOfAttempt(run.loop.tools.get(execution.name), execution, args);
      const result = await runAttempt(execution, given, context, run.loop);
      context.end();
      const seconds = result?.retryAfterSeconds;
      if (result === undefined || seconds === undefined) return result;
      if (!(await waitForRetry(seconds, run, toolSignal))) return result;
      const next = await nextAttempt(run, latestExecution(run, execution), args, result);
      if (next === undefined || 'outcome' in next) return next;
      execution = next.execution;
    }
  } catch (error) {
    context?.end();
    return { outcome: Object.freeze({ type: 'failed', error: toErrorRecord(error) }) };
  }
}

/**
 * Starts the next attempt of a call, or returns the result of the call without one. Returns `undefined` when a person must
 * approve the attempt.
 */
async function nextAttempt(
  run: RunState,
  failed: ToolExecution,
  args: unknown,
  result: AttemptResult,
): Promise<{ readonly execution: ToolExecution } | AttemptResult | undefined> {
  let admission: Admission;
  try {
    admission = await admitRetry(run, failed, args);
  } catch (error) {
    if (!isAgentStop(error)) throw error;
    return { outcome: result.outcome, stop: error.signal };
  }
  if (admission === undefined) return result;
  if (admission.type === 'end') return { outcome: admission.execution.outcome ?? result.outcome };
  const at = run.now();
  const isStart = admission.type === 'start';
  const execution = isStart
    ? admission.execution.withNextAttempt(at)
    : admission.execution.withApprovalRequested(at);
  run.advance({ type: 'toolAdvanced', toolExecution: execution, at });
  return isStart ? { execution } : undefined;
}

/** Waits for the next attempt. Returns false when the run was stopped and there is no further attempt. */
async function waitForRetry(seconds: number, run: RunState, signal: AbortSignal): Promise<boolean> {
  if (!canRunTools(run.state)) return false;
  return (await pause(run.loop.clock, seconds * 1000, signal)) && canRunTools(run.state);
}
