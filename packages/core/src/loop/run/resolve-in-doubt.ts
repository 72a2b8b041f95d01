import type { ToolCallPart } from '../../state/messages/messages.ts';
import type { ToolExecution } from '../../state/tools/tool-execution.ts';
import { interruptedOutcome, type ToolOutcome } from '../../state/tools/tool-outcome.ts';
import { toErrorRecord } from '../../state/values/error-record.ts';
import { withinGrace } from '../stopping/grace.ts';
import { RunningTool } from './running-tool.ts';
import type { RunState } from './run-state.ts';
import type { Tool } from '../tools/tool-types.ts';
import { succeededOutcome } from './tool-runner.ts';

/**
 * The way in which the loop resolves a call in doubt. `retry`: the call runs again under the same idempotency key.
 * `requestApproval`: a person decides whether the call runs again. An outcome: the call completes with it.
 */
export type Resolution = 'retry' | 'requestApproval' | ToolOutcome;

/**
 * Resolves a call in doubt by its answer, or by the effect that its tool declares. Without its tool, the call becomes
 * `interrupted`.
 */
export async function resolveInDoubt(run: RunState, execution: ToolExecution): Promise<Resolution> {
  const tool = run.loop.tools.get(execution.name);
  const answered = execution.answer?.outcome;
  if (answered) return outcomeOfAnswer(answered, tool, execution.call, run);
  if (tool === undefined) return interruptedOutcome(execution);
  if (mayRepeat(tool)) return 'retry';
  const found = tool.reconcile && (await reconcileCall(run, tool, execution));
  if (found) return found;
  return tool.effect === 'ask' ? 'requestApproval' : interruptedOutcome(execution);
}

/** Returns the outcome of an answered call, as if its tool had returned the value or thrown the error. */
async function outcomeOfAnswer(
  answered: ToolOutcome,
  tool: Tool | undefined,
  call: ToolCallPart,
  { loop }: RunState,
): Promise<ToolOutcome> {
  if (answered.type !== 'succeeded' || tool === undefined) return answered;
  try {
    return await succeededOutcome(tool, answered.value, call, loop);
  } catch (error) {
    return Object.freeze({ type: 'failed', error: toErrorRecord(error) });
  }
}

/** True when the call can safely run again under the same idempotency key. */
function mayRepeat({ effect, isResumable }: Tool): boolean {
  return isResumable === true || effect === 'readOnly' || effect === 'idempotent';
}

/**
 * Calls the tool's `reconcile`. Returns `undefined` when the result of the call stays unknown or did not arrive in
 * time.
 */
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
    if (found?.status !== 'done') return undefined;
    return await succeededOutcome(tool, found.value, execution.call, run.loop);
  } catch (error) {
    if (tool.effect === 'ask') return undefined; // a person decides
    return interruptedOutcome(execution, error);
  } finally {
    context.end();
  }
}
