import { pause } from '../../clock.ts';
import { toErrorRecord } from '../../state/values/error-record.ts';
import type { ToolExecution } from '../../state/execution/tool-execution.ts';
import { executionWithId } from '../../state/execution/tool-executions.ts';
import { RunningTool } from './running-tool.ts';
import type { RunState } from '../run-state.ts';
import { canRunTools, stepAtWork } from '../stepper.ts';
import type { AttemptResult } from './tool-runner.ts';
import { runAttempt } from './tool-runner.ts';

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
      const result = await runAttempt(execution, context, run.loop);
      context.end();
      const again = result?.retryAfterSeconds;
      if (again === undefined || !(await waitForRetry(again, run, toolSignal))) return result;
      const at = run.now();
      execution = latestExecution(run, execution).withNextAttempt(at);
      run.advance({ type: 'toolAdvanced', toolExecution: execution, at });
    }
  } catch (error) {
    context?.end();
    return { outcome: Object.freeze({ type: 'failed', error: toErrorRecord(error) }) };
  }
}

/** Waits for the next attempt. Returns false when the run was stopped and there is no further attempt. */
async function waitForRetry(seconds: number, run: RunState, signal: AbortSignal): Promise<boolean> {
  if (!canRunTools(run.state)) return false;
  return (await pause(run.loop.clock, seconds * 1000, signal)) && canRunTools(run.state);
}
