import type { ToolExecution } from '../../state/execution/tool-execution.ts';
import type { ToolOutcome } from '../../state/execution/tool-outcome.ts';
import { interruptedOutcome } from '../../state/execution/tool-outcome.ts';
import { withinGrace } from '../stopping/grace.ts';
import { RunningTool } from './running-tool.ts';
import type { RunState } from '../run-state.ts';
import type { Tool } from './tool.ts';
import { succeededOutcome } from './tool-runner.ts';

/**
 * What is to become of a call that a process has started and left. `retry`: it is called once more, under the same key.
 * `requestApproval`: a person says whether it may be.
 */
export type Resolution = 'retry' | 'requestApproval' | ToolOutcome;

/** Resolves a call whose outcome nobody knows as its tool declares. Of a tool that is gone it stays unknown. */
export async function resolveInDoubt(run: RunState, execution: ToolExecution): Promise<Resolution> {
  const tool = run.loop.tools.get(execution.name);
  if (tool === undefined) return interruptedOutcome(execution);
  if (mayRepeat(tool)) return 'retry';
  const found = tool.reconcile && (await reconcileCall(run, tool, execution));
  if (found) return found;
  return tool.effect === 'ask' ? 'requestApproval' : interruptedOutcome(execution);
}

/** Does it do no harm to call it again under the same key? */
function mayRepeat({ effect, isResumable }: Tool): boolean {
  return isResumable === true || effect === 'readOnly' || effect === 'idempotent';
}

/** What the outside world says of the call; `undefined` when it does not know, or should not be waited for. */
async function reconcileCall(
  run: RunState,
  tool: Tool,
  execution: ToolExecution,
): Promise<Resolution | undefined> {
  const { signal } = run;
  const context = new RunningTool(run, execution, signal);
  try {
    const reply = Promise.resolve(tool.reconcile?.(execution.idempotencyKey, context));
    const found = await withinGrace(reply, { signal, clock: run.loop.clock });
    if (found?.status === 'notDone') return 'retry';
    return found?.status === 'done' ? succeededOutcome(tool, found.value, run.loop) : undefined;
  } catch (error) {
    if (tool.effect === 'ask') return undefined; // a person finds out
    return interruptedOutcome(execution, error);
  } finally {
    context.end();
  }
}
