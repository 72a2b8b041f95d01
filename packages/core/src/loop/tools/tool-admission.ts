import { HoldfastError } from '../../errors.ts';
import { toErrorRecord } from '../../state/values/error-record.ts';
import { isAgentStop } from '../../state/execution/continuation.ts';
import { ToolExecutionId } from '../../state/values/ids.ts';
import { needsProviderApproval } from '../../state/messages/call-marks.ts';
import type { ToolCallPart } from '../../state/messages/messages.ts';
import { ToolExecution } from '../../state/execution/tool-execution.ts';
import type { ToolBlock } from '../../state/execution/tool-outcome.ts';
import { withinGrace } from '../stopping/grace.ts';
import type { RunState } from '../run-state.ts';
import { canRunTools, stepAtWork } from '../stepper.ts';
import type { Tool } from './definition/tool-types.ts';

/**
 * The decision on a call that the model requested: it starts, a person must approve it, or it ends with an outcome.
 * `undefined` when the run was stopped meanwhile; the call then does not start.
 */
export type Admission =
  | { readonly type: 'start' | 'requestApproval'; readonly execution: ToolExecution }
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
 * Calls the hooks and, where the tool requires it, checks whether a person must approve. @throws the error of a hook; AgentStop.
 */
export function admit(run: RunState, call: ToolCallPart): Admission | Promise<Admission> {
  return run.loop.hooks.has('beforeToolUse')
    ? runHooks(run, call)
    : checkApproval(run, executionOfCall(run, call));
}

/** True when work may start in the current step. */
export function mayStart(run: RunState): boolean {
  return run.mayBegin() && canRunTools(run.state);
}

async function runHooks(run: RunState, requested: ToolCallPart): Promise<Admission> {
  const { call, blockedBy, thrown } = await verdictOf(run, requested);
  if (blockedBy.length > 0) {
    const error = toErrorRecord(new ToolExecutionBlockedError(call.toolName, blockedBy));
    return { type: 'end', execution: endedCall(run, executionOfCall(run, call), 'blocked', error), thrown };
  }
  if (thrown) throw thrown.error;
  return mayStart(run) ? checkApproval(run, executionOfCall(run, call)) : undefined;
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

function checkApproval(run: RunState, execution: ToolExecution): Admission | Promise<Admission> {
  if (needsProviderApproval(execution.call)) return Promise.resolve(approvalForProvider(run, execution));
  const tool = run.loop.tools.get(execution.name);
  const isAsked = !execution.isApproved && tool?.needsApproval !== undefined;
  return isAsked ? requestApprovalIfNeeded(run, tool, execution) : { type: 'start', execution };
}

/** The decision on a call that the provider runs after an approval. The approval itself is the result of the call. */
function approvalForProvider(run: RunState, execution: ToolExecution): Admission {
  if (!execution.isApproved) return { type: 'requestApproval', execution };
  const outcome = { type: 'succeeded', value: { approved: true } } as const;
  return { type: 'end', execution: execution.withOutcome(outcome, run.now()) };
}

async function requestApprovalIfNeeded(
  run: RunState,
  tool: Tool,
  execution: ToolExecution,
): Promise<Admission> {
  try {
    const isNeeded = await needsApproval(tool, execution, run);
    return mayStart(run) ? { type: isNeeded ? 'requestApproval' : 'start', execution } : undefined;
  } catch (error) {
    if (isAgentStop(error)) throw error;
    return { type: 'end', execution: endedCall(run, execution, 'failed', toErrorRecord(error)) };
  }
}

/** True when a person must approve the call. Invalid arguments need no approval: the call fails anyway. */
async function needsApproval(tool: Tool, { call }: ToolExecution, run: RunState): Promise<boolean> {
  const { signal, state, loop, runContext } = run;
  if (call.invalid !== undefined) return false;
  const context = { toolCallId: call.toolCallId, state, signal, clock: loop.clock, runContext };
  const isApprovalNeeded = async (): Promise<boolean> => {
    const validation = await tool.validate(call.input);
    if ('problem' in validation) return false;
    return (await tool.needsApproval?.(validation.value, context)) ?? false;
  };
  return withinGrace(isApprovalNeeded(), { signal, clock: loop.clock, onTimeout: () => true });
}

/** The execution of an approved call, or a new execution. */
function executionOfCall({ state, loop }: RunState, call: ToolCallPart): ToolExecution {
  const known = stepAtWork(state)?.executionOf(call.toolCallId);
  return known?.forCall(call) ?? ToolExecution.ofChecked(call, undefined, ToolExecutionId.create(loop.clock));
}

function endedCall(
  run: RunState,
  execution: ToolExecution,
  type: 'blocked' | 'failed',
  error: ReturnType<typeof toErrorRecord>,
): ToolExecution {
  return execution.withOutcome({ type, error }, run.now());
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
