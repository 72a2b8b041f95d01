import { pause } from '../../clock.ts';
import { toErrorRecord } from '../../state/values/error-record.ts';
import type { ToolExecution } from '../../state/execution/tool-execution.ts';
import { executionWithId } from '../../state/execution/tool-executions.ts';
import { RunningTool } from './running-tool.ts';
import type { RunState } from '../run-state.ts';
import { canRunTools, stepAtWork } from '../stepper.ts';
import type { FinishedTool } from './tool-runner.ts';
import { runTool } from './tool-runner.ts';

/** Would calling it twice do harm, or is its outcome worth keeping at once? */
export function hasEffect({ loop }: RunState, { name }: ToolExecution): boolean {
  return loop.tools.get(name)?.effect !== 'readOnly';
}

/** Can another process take it up where it stands? */
export function isResumable({ loop }: RunState, { name }: ToolExecution): boolean {
  return loop.tools.get(name)?.isResumable ?? false;
}

/** The execution as it stands now: a tool may have left progress or usage in it. */
function latest({ state }: RunState, { id }: ToolExecution): ToolExecution {
  return executionWithId(stepAtWork(state)?.toolExecutions ?? [], id) as ToolExecution;
}

/**
 * Tries a call until it ends in a way that stays, which it does whatever is thrown. `undefined` when it is left as it is,
 * to another process.
 */
export async function runWithRetries(
  run: RunState,
  first: ToolExecution,
  toolSignal: AbortSignal,
): Promise<FinishedTool | undefined> {
  let context: RunningTool | undefined;
  try {
    const signal = isResumable(run, first) ? run.signal : toolSignal;
    let execution = first;
    for (;;) {
      if (run.kept.isAsked && hasEffect(run, execution) && !(await run.kept.mayAct(run))) return undefined;
      context = new RunningTool(run, execution, signal);
      const ended = await runTool(execution, context, run.loop);
      context.end();
      const again = ended?.retryAfterSeconds;
      if (again === undefined || !(await mayTryAgainAfter(again, run, toolSignal))) return ended;
      const at = run.now();
      execution = latest(run, execution).withNextAttempt(at);
      run.advance({ type: 'toolAdvanced', toolExecution: execution, at });
    }
  } catch (error) {
    context?.end();
    return { outcome: Object.freeze({ type: 'failed', error: toErrorRecord(error) }) };
  }
}

/** Waits for the next try. False when there is to be none: the run was told to stop. */
async function mayTryAgainAfter(seconds: number, run: RunState, signal: AbortSignal): Promise<boolean> {
  if (!canRunTools(run.state)) return false;
  return (await pause(run.loop.clock, seconds * 1000, signal)) && canRunTools(run.state);
}
