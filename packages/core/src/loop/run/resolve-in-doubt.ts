import type { ToolExecution } from '../../state/tools/tool-execution.ts';
import { interruptedOutcome, type ToolOutcome } from '../../state/tools/tool-outcome.ts';
import { toErrorRecord } from '../../state/values/error-record.ts';
import { withinGrace } from '../stopping/grace.ts';
import { succeededOutcome } from '../tools/call-outcome.ts';
import { after, withArgumentsToApprove } from '../tools/tool-arguments.ts';
import type { Tool } from '../tools/tool-types.ts';
import { RunningTool, type ToolRun } from './running-tool.ts';
import { admitChecked, checkInTime, type Admission } from './tool-admission.ts';

/**
 * Resolves a call in doubt by its answer, or by the effect that its tool declares: the call ends, or a person decides
 * whether it runs again. `retry`: it runs again under the same idempotency key. Without its tool, the call becomes
 * `interrupted`.
 */
export async function resolveInDoubt(run: ToolRun, inDoubt: ToolExecution): Promise<Admission | 'retry'> {
  const tool = run.loop.tools.get(inDoubt.name);
  const answered = inDoubt.answer?.outcome;
  if (answered) return end(run, inDoubt, await outcomeOfAnswer(answered, tool, inDoubt, run));
  if (tool === undefined) return endInterrupted(run, inDoubt);
  if (mayRepeat(tool)) return 'retry';
  const found = tool.reconcile && (await reconcileCall(run, tool, inDoubt));
  if (found === 'retry') return found;
  if (found) return end(run, inDoubt, found);
  return tool.effect === 'ask' ? admitByPerson(run, tool, inDoubt) : endInterrupted(run, inDoubt);
}

/**
 * Admits another start of a call in doubt: its arguments are checked and its rule is asked as at the first start.
 * @throws AgentStop.
 */
export function admitAgain(run: ToolRun, inDoubt: ToolExecution): Admission | Promise<Admission> {
  return after(admitChecked(run, inDoubt), (admission) => {
    if (admission?.type === 'start')
      return { ...admission, execution: admission.execution.withNextAttempt(run.now()) };
    return admission?.type === 'end' ? endInterrupted(run, inDoubt, admission.execution.error) : admission;
  });
}

/** Requests an approval of another start, with the arguments that the tool would receive. */
async function admitByPerson(run: ToolRun, tool: Tool, inDoubt: ToolExecution): Promise<Admission> {
  if (run.signals.isHandedOver()) return undefined;
  const checked = await checkInTime(run, tool, inDoubt, withArgumentsToApprove);
  if (!run.mayBegin()) return undefined;
  if ('error' in checked) return endInterrupted(run, inDoubt, checked.error);
  return { type: 'requestApproval', execution: checked.execution };
}

function end(run: ToolRun, inDoubt: ToolExecution, outcome: ToolOutcome): Admission {
  return { type: 'end', execution: inDoubt.withCheckedOutcome(outcome, run.now()) };
}

/** Ends a call in doubt that must not start again. */
function endInterrupted(run: ToolRun, inDoubt: ToolExecution, cause?: unknown): Admission {
  return end(run, inDoubt, interruptedOutcome(inDoubt, cause));
}

/** Returns the outcome of an answered call, as if its tool had returned the value or thrown the error. */
async function outcomeOfAnswer(
  answered: ToolOutcome,
  tool: Tool | undefined,
  { call }: ToolExecution,
  { loop }: ToolRun,
): Promise<ToolOutcome> {
  if (answered.type !== 'succeeded' || tool === undefined) return answered;
  try {
    return await succeededOutcome(tool, answered.value, call, loop.maxResultLength);
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
  run: ToolRun,
  tool: Tool,
  inDoubt: ToolExecution,
): Promise<ToolOutcome | 'retry' | undefined> {
  const signal = run.signals.current;
  const context = new RunningTool(run, inDoubt, signal);
  try {
    const reply = Promise.resolve(tool.reconcile?.(inDoubt.idempotencyKey, context));
    const found = await withinGrace(reply, { signal, clock: run.loop.clock });
    if (found?.status === 'notDone') return 'retry';
    if (found?.status !== 'done') return undefined;
    return await succeededOutcome(tool, found.value, inDoubt.call, run.loop.maxResultLength);
  } catch (error) {
    if (tool.effect === 'ask') return undefined; // a person decides
    return interruptedOutcome(inDoubt, error);
  } finally {
    context.end();
  }
}
