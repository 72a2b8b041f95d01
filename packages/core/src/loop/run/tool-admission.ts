import { HoldfastError } from '../../errors.ts';
import { toErrorRecord } from '../../state/values/error-record.ts';
import { isAgentStop } from '../../state/execution/continuation.ts';
import { ToolExecutionId } from '../../state/values/ids.ts';
import { needsProviderApproval } from '../../state/messages/call-marks.ts';
import type { ToolCallPart } from '../../state/messages/messages.ts';
import { ToolExecution } from '../../state/tools/tool-execution.ts';
import { interruptedOutcome, type ToolBlock } from '../../state/tools/tool-outcome.ts';
import type { RunState } from './run-state.ts';
import { canRunTools, stepAtWork } from '../steps/stepper.ts';
import type { Tool } from '../tools/tool-types.ts';
import {
  after,
  CHECK_SECONDS,
  checkArguments,
  checkTooSlow,
  withArgumentsToApprove,
  withinSeconds,
  type CheckedArguments,
  type CheckedCall,
} from '../tools/tool-arguments.ts';
import { failedOutcome } from './tool-runner.ts';

/**
 * The decision on a call: it starts with its checked arguments, a person must approve it, or it ends with an outcome.
 * `undefined` when the run was stopped meanwhile; the call then does not start.
 */
export type Admission =
  | CheckedCall
  | { readonly type: 'requestApproval'; readonly execution: ToolExecution }
  | { readonly type: 'end'; readonly execution: ToolExecution; readonly thrown?: Thrown | undefined }
  | undefined;

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

const NOTHING: readonly never[] = Object.freeze([]);

/**
 * Admits a call that the model requested: calls the hooks, checks the arguments, and asks the approval rule of the tool.
 * @throws the error of a hook; AgentStop.
 */
export function admit(run: RunState, call: ToolCallPart): Admission | Promise<Admission> {
  return run.loop.hooks.has('beforeToolUse')
    ? runHooks(run, call)
    : admitChecked(run, executionOfCall(run, call));
}

/**
 * Admits another start of a call in doubt: its arguments are checked and its rule is asked as at the first start.
 * @throws AgentStop.
 */
export function admitAgain(run: RunState, inDoubt: ToolExecution): Admission | Promise<Admission> {
  return after(admitChecked(run, inDoubt), (admission) => {
    if (admission?.type === 'start')
      return { ...admission, execution: admission.execution.withNextAttempt(run.now()) };
    return admission?.type === 'end' ? endInterrupted(run, inDoubt, admission.execution.error) : admission;
  });
}

/** Requests an approval of another start of a call in doubt, with the arguments that its tool would receive. */
export async function admitByPerson(run: RunState, inDoubt: ToolExecution): Promise<Admission> {
  const tool = run.loop.tools.get(inDoubt.name);
  if (tool === undefined) return { type: 'requestApproval', execution: inDoubt };
  const checked = await checkInTime(run, tool, inDoubt, withArgumentsToApprove);
  if (!run.mayBegin()) return undefined;
  if ('error' in checked) return endInterrupted(run, inDoubt, checked.error);
  return { type: 'requestApproval', execution: checked.execution };
}

/** Asks the approval rule about another attempt of a call whose attempt failed. @throws AgentStop. */
export function admitRetry(
  run: RunState,
  execution: ToolExecution,
  args: unknown,
): Admission | Promise<Admission> {
  const tool = run.loop.tools.get(execution.name);
  return tool && admitJudged(run, tool, execution, { type: 'start', execution, args });
}

/** True when work may start in the current step. */
export function mayStart(run: RunState): boolean {
  return run.mayBegin() && canRunTools(run.state);
}

async function runHooks(run: RunState, requested: ToolCallPart): Promise<Admission> {
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
async function verdictOf(run: RunState, requested: ToolCallPart): Promise<Verdict> {
  const { hooks } = run.loop;
  // The approved call is the one that runs: a hook may block it, but not change it. Providers run their own calls.
  const isFixedCall = executionOfCall(run, requested).isApproved || needsProviderApproval(requested);
  let verdict: Verdict = { call: requested, blockedBy: NOTHING };
  for (const hook of hooks.at('beforeToolUse')) {
    const { call, blockedBy } = verdict;
    const context = { ...run.context, blockedBy };
    try {
      const change = await run.callHook(hook, 'beforeToolUse', call, context);
      if (change?.state) run.changeFrom(context.state, change.state);
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

/** Checks the arguments, and admits the call with the checked value. */
function admitChecked(run: RunState, execution: ToolExecution): Admission | Promise<Admission> {
  if (needsProviderApproval(execution.call)) return Promise.resolve(approvalForProvider(run, execution));
  const tool = run.loop.tools.get(execution.name);
  if (tool === undefined) return { type: 'start', execution, args: undefined }; // it fails as unknown
  const checked = checkInTime(run, tool, execution, checkArguments);
  if (!(checked instanceof Promise)) return admitJudged(run, tool, execution, checked);
  return checked.then((found) => (mayStart(run) ? admitJudged(run, tool, execution, found) : undefined));
}

/** Admits a call by the approval rule of its tool. The rule judges the value that the tool then receives. */
function admitJudged(
  run: RunState,
  tool: Tool,
  requested: ToolExecution,
  checked: CheckedArguments,
): Admission | Promise<Admission> {
  if ('error' in checked) return endFailed(run, requested, checked.error);
  const isAsked = tool.needsApproval !== undefined && !checked.execution.hasApproval;
  return isAsked ? requestApprovalIfNeeded(run, tool, checked) : checked;
}

/** Returns the result of a check in time, or its error. @throws AgentStop. */
function checkInTime(
  run: RunState,
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
function approvalForProvider(run: RunState, execution: ToolExecution): Admission {
  if (!execution.isApproved) return { type: 'requestApproval', execution };
  const outcome = { type: 'succeeded', value: { approved: true } } as const;
  return { type: 'end', execution: execution.withOutcome(outcome, run.now()) };
}

async function requestApprovalIfNeeded(run: RunState, tool: Tool, start: CheckedCall): Promise<Admission> {
  const { execution, args } = start;
  const { signal, state, loop, runContext } = run;
  const { toolCallId } = execution.call;
  const context = { toolCallId, state, signal, clock: loop.clock, runContext };
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
function inTime<T>(run: RunState, tool: Tool, pending: Promise<T>, onTimeout: () => T): Promise<T> {
  const seconds = tool.timeoutSeconds ?? (tool.needsApproval ? CHECK_SECONDS : undefined);
  return withinSeconds(pending, { seconds, clock: run.loop.clock, signal: run.signal, onTimeout });
}

/** Ends a call in doubt that must not start again. */
function endInterrupted(run: RunState, inDoubt: ToolExecution, cause: unknown): Admission {
  const outcome = interruptedOutcome(inDoubt, cause);
  return { type: 'end', execution: inDoubt.withCheckedOutcome(outcome, run.now()) };
}

/** @throws AgentStop */
function endFailed(run: RunState, execution: ToolExecution, error: unknown): Admission {
  if (isAgentStop(error)) throw error;
  const outcome = failedOutcome(execution.name, error, run.loop.maxResultLength);
  return { type: 'end', execution: execution.withCheckedOutcome(outcome, run.now()) };
}

/** The execution of an approved call, or a new execution. */
function executionOfCall({ state, loop }: RunState, call: ToolCallPart): ToolExecution {
  const known = stepAtWork(state)?.executionOf(call.toolCallId);
  return known?.forCall(call) ?? ToolExecution.ofChecked(call, undefined, ToolExecutionId.create(loop.clock));
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
