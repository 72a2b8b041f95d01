import { HoldfastError } from '../../errors.ts';
import { toErrorRecord } from '../../state/values/error-record.ts';
import { NOTHING } from '../../state/values/frozen-array.ts';
import { isAgentStop } from '../../state/execution/continuation.ts';
import { ToolExecutionId } from '../../state/values/ids.ts';
import { needsProviderApproval } from '../../state/messages/call-marks.ts';
import type { ToolCallPart } from '../../state/messages/messages.ts';
import { ToolExecution } from '../../state/tools/tool-execution.ts';
import type { ToolBlock } from '../../state/tools/tool-outcome.ts';
import { canRunTools, stepAtWork } from '../steps/stepper.ts';
import { failedOutcome } from '../tools/call-outcome.ts';
import type { Tool } from '../tools/tool-types.ts';
import {
  CHECK_SECONDS,
  checkArguments,
  checkTooSlow,
  withinSeconds,
  type CheckedArguments,
  type CheckedCall,
} from '../tools/tool-arguments.ts';
import type { ToolRun } from './running-tool.ts';

/**
 * The decision on a call: it starts with its checked arguments, a person must approve it, or it ends with an outcome.
 * `undefined` when the run was stopped meanwhile; the call then does not start.
 */
export type Admission =
  | CheckedCall
  | { readonly type: 'requestApproval'; readonly execution: ToolExecution }
  | { readonly type: 'end'; readonly execution: ToolExecution; readonly thrown?: Thrown | undefined }
  | undefined;

/** A call that starts, and the value that its tool receives. */
export type StartedCall = Pick<CheckedCall, 'execution' | 'args'>;

/** The error of a hook that threw after another hook had blocked the call. */
interface Thrown {
  readonly error: unknown;
}

/** The result of the hooks for a call. */
interface Verdict {
  readonly call: ToolCallPart;
  readonly blockedBy: readonly ToolBlock[];
  readonly thrown?: Thrown;
}

/**
 * Admits a call that the model requested: calls the hooks, checks the arguments, and asks the approval rule of the tool.
 * @throws the error of a hook; AgentStop.
 */
export function admit(run: ToolRun, call: ToolCallPart): Admission | Promise<Admission> {
  return run.loop.hooks.has('beforeToolUse')
    ? runHooks(run, call)
    : admitChecked(run, executionOfCall(run, call));
}

/** True when work may start in the current step. */
export function mayStart(run: ToolRun): boolean {
  return run.mayBegin() && canRunTools(run);
}

async function runHooks(run: ToolRun, requested: ToolCallPart): Promise<Admission> {
  const { call, blockedBy, thrown } = await verdictOf(run, requested);
  if (blockedBy.length > 0) {
    const error = toErrorRecord(new ToolExecutionBlockedError(call.toolName, blockedBy));
    const blocked = executionOfCall(run, call).withOutcome({ type: 'blocked', error }, run.now());
    return { type: 'end', execution: blocked, thrown };
  }
  if (thrown) throw thrown.error;
  return mayStart(run) ? admitChecked(run, executionOfCall(run, call)) : undefined;
}

/** Calls the hooks in order, until one throws or the run is stopped. */
async function verdictOf(run: ToolRun, requested: ToolCallPart): Promise<Verdict> {
  const { hooks } = run.loop;
  // The approved call is the one that runs: a hook may block it, but not change it. Providers run their own calls.
  const isFixedCall = executionOfCall(run, requested).isApproved || needsProviderApproval(requested);
  let verdict: Verdict = { call: requested, blockedBy: NOTHING };
  for (const hook of hooks.at('beforeToolUse')) {
    const { call, blockedBy } = verdict;
    try {
      const change = await run.hooks.change(hook, 'beforeToolUse', call, { blockedBy });
      const isFixed = isFixedCall || blockedBy.length > 0;
      verdict = {
        call: (isFixed ? undefined : change?.call) ?? call,
        blockedBy: withBlock(blockedBy, hooks.nameOf(hook), change?.block),
      };
    } catch (error) {
      return { ...verdict, thrown: { error } };
    }
    if (!mayStart(run)) break;
  }
  return verdict;
}

function withBlock(
  blockedBy: readonly ToolBlock[],
  hook: string,
  reason: string | undefined,
): readonly ToolBlock[] {
  if (reason === undefined) return blockedBy;
  return Object.freeze([...blockedBy, Object.freeze({ hook, reason })]);
}

/** Checks the arguments, and admits the call with the checked value. @throws AgentStop. */
export function admitChecked(run: ToolRun, execution: ToolExecution): Admission | Promise<Admission> {
  if (needsProviderApproval(execution.call)) return Promise.resolve(approvalForProvider(run, execution));
  const tool = run.loop.tools.get(execution.name);
  if (tool === undefined) return { type: 'start', execution, args: undefined }; // it fails as unknown
  const checked = checkInTime(run, tool, execution, checkArguments);
  if (!(checked instanceof Promise)) return admitByRule(run, tool, execution, checked);
  return checked.then((found) => (mayStart(run) ? admitByRule(run, tool, execution, found) : undefined));
}

/**
 * Admits a call by the approval rule of its tool. The rule judges the value that the tool then receives.
 * @throws AgentStop.
 */
export function admitByRule(
  run: ToolRun,
  tool: Tool,
  requested: ToolExecution,
  checked: CheckedArguments,
): Admission | Promise<Admission> {
  if ('error' in checked) return endFailed(run, requested, checked.error);
  const isAsked = tool.needsApproval !== undefined && !checked.execution.hasApproval;
  return isAsked ? requestApprovalIfNeeded(run, tool, checked) : checked;
}

/** Returns the result of a check in time, or its error. @throws AgentStop. */
export function checkInTime(
  run: ToolRun,
  tool: Tool,
  execution: ToolExecution,
  check: typeof checkArguments,
): CheckedArguments | Promise<CheckedArguments> {
  try {
    const checked = check(tool, execution);
    if (!(checked instanceof Promise)) return checked;
    return inTime(run, tool, checked, () => ({ error: checkTooSlow(tool, 'arguments') })).catch(errorOfCheck);
  } catch (error) {
    return errorOfCheck(error);
  }
}

function errorOfCheck(error: unknown): CheckedArguments {
  if (isAgentStop(error)) throw error;
  return { error };
}

/** The decision on a call that the provider runs after an approval. The approval itself is the result of the call. */
function approvalForProvider(run: ToolRun, execution: ToolExecution): Admission {
  if (!execution.isApproved) return { type: 'requestApproval', execution };
  const outcome = { type: 'succeeded', value: { approved: true } } as const;
  return { type: 'end', execution: execution.withOutcome(outcome, run.now()) };
}

async function requestApprovalIfNeeded(run: ToolRun, tool: Tool, start: CheckedCall): Promise<Admission> {
  const { execution, args } = start;
  const { signals, state, loop, given } = run;
  const { toolCallId } = execution.call;
  const { runContext } = given;
  const context = { toolCallId, state, signal: signals.current, clock: loop.clock, runContext };
  const ask = async (): Promise<unknown> => tool.needsApproval?.(structuredClone(args), context);
  try {
    const answer = await inTime(run, tool, ask(), () => 'no answer');
    if (!mayStart(run)) return undefined;
    return answer === false ? start : { type: 'requestApproval', execution };
  } catch (error) {
    return endFailed(run, execution, error);
  }
}

/** Waits for a check of a call: until the run is aborted, or the time of the tool has passed. */
function inTime<T>(run: ToolRun, tool: Tool, pending: Promise<T>, onTimeout: () => T): Promise<T> {
  const seconds = tool.timeoutSeconds ?? (tool.needsApproval ? CHECK_SECONDS : undefined);
  return withinSeconds(pending, { seconds, clock: run.loop.clock, signal: run.signals.current, onTimeout });
}

/** @throws AgentStop */
function endFailed(run: ToolRun, execution: ToolExecution, error: unknown): Admission {
  if (isAgentStop(error)) throw error;
  const outcome = failedOutcome(execution.name, error, run.loop.maxResultLength);
  return { type: 'end', execution: execution.withCheckedOutcome(outcome, run.now()) };
}

/** The execution of an approved call, or a new execution. */
function executionOfCall(run: ToolRun, call: ToolCallPart): ToolExecution {
  const known = stepAtWork(run)?.executionOf(call.toolCallId);
  return (
    known?.forCall(call) ?? ToolExecution.ofChecked(call, undefined, ToolExecutionId.create(run.loop.clock))
  );
}

/** The error of a call that hooks blocked. The message lists their reasons, one on each line. */
export class ToolExecutionBlockedError extends HoldfastError {
  /** The hooks that blocked the call, in the order in which they were called: at least one. */
  readonly blockedBy: readonly ToolBlock[];

  constructor(toolName: string, blockedBy: readonly ToolBlock[]) {
    const reasons = blockedBy.flatMap(({ reason }) => reason || []).join('\n');
    super('TOOL_BLOCKED', reasons || `Tool "${toolName}" is blocked.`, { data: { toolName, blockedBy } });
    this.blockedBy = blockedBy;
  }
}
