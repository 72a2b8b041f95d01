import type { Instant } from '../../clock.ts';
import { HoldfastError } from '../../errors.ts';
import type { AgentLoop } from '../../loop/agent-loop.ts';
import { toolNotFound } from '../../loop/tools/call-outcome.ts';
import type { Tool } from '../../loop/tools/tool-types.ts';
import { subagentState, withSubagentState } from '../../loop/tools/waiting.ts';
import type { AgentState } from '../../state/agent-state.ts';
import { requireState } from '../../state/require-state.ts';
import type { ToolExecution } from '../../state/tools/tool-execution.ts';
import type { Waiting } from '../../state/values/waiting.ts';

/**
 * Returns the tool executions of the open step that are pending, those of subagents included.
 * @param caller the function that an error about `state` names
 */
export function waitingCalls(
  state: AgentState,
  caller: string,
  isPending: (execution: ToolExecution) => boolean,
): readonly ToolExecution[] {
  requireState(state, caller);
  const executions = state.currentStep?.toolExecutions ?? [];
  return executions.flatMap((execution) => {
    if (isPending(execution)) return [execution];
    if (execution.isAwaitingAnswer || execution.waitingInside.length === 0) return [];
    return waitingCalls(subagentState(execution), caller, isPending);
  });
}

/** A call of the open step or of a subagent, and the tools of the agent that requested it. */
export interface RequestedCall {
  readonly execution: ToolExecution;
  readonly tools: AgentLoop['tools'];
}

/** Finds a call of the open step, or a call that waits in a subagent. */
export function callIn(
  state: AgentState,
  toolExecutionId: string,
  tools: AgentLoop['tools'],
): RequestedCall | undefined {
  const execution = state.currentStep?.toolExecutions.find(({ id }) => id === toolExecutionId);
  if (execution) return { execution, tools };
  const around = executionAround(state, toolExecutionId);
  return around && callIn(subagentState(around), toolExecutionId, tools?.get(around.name)?.toolsInside?.());
}

/** Returns the tool of a call. @throws HoldfastError `TOOL_NOT_FOUND` when the agent does not have it. */
export function toolOf({ execution: { name }, tools }: RequestedCall): Tool {
  const tool = tools?.get(name);
  if (tool === undefined) throw toolNotFound(name, tools?.keys() ?? []);
  return tool;
}

/** Creates the error for a call that does not wait for an answer or an approval, with those that do. */
export function notWaiting(
  toolExecutionId: string,
  event: 'an answer' | 'approval',
  waiting: readonly ToolExecution[],
): HoldfastError {
  const code = event === 'approval' ? 'APPROVAL_NOT_FOUND' : 'ANSWER_NOT_FOUND';
  const ids = waiting.map(({ id }) => id);
  const message = `No tool call "${toolExecutionId}" waits for ${event}. Waiting tool calls: ${ids.join(', ') || 'none'}.`;
  return new HoldfastError(code, message, { data: { toolExecutionId, waiting: ids } });
}

/** Returns the state with a call changed. When nothing waits any more, the execution resumes. */
export function withCallChanged(
  state: AgentState,
  toolExecutionId: string,
  change: (execution: ToolExecution) => ToolExecution,
  at: Instant,
): AgentState {
  const step = state.currentStep;
  const own = step?.toolExecutions.find(({ id }) => id === toolExecutionId);
  const execution = own ?? executionAround(state, toolExecutionId);
  if (step === undefined || execution === undefined) return state;
  const changed = own
    ? change(own)
    : withSubagentState(execution, (child) => withCallChanged(child, toolExecutionId, change, at));
  const next = state.withCurrentStep(step.withToolExecution(changed), at);
  const stillWaits = own
    ? changed.isAwaitingApproval
    : changed.waitingInside.some((waiting) => isFor(waiting, toolExecutionId));
  return stillWaits
    ? withTimeoutOf(next, toolExecutionId, { before: execution, after: changed }, at)
    : withoutWaitingFor(next, toolExecutionId, at);
}

/** Returns the state with the approval timeout of a call that still waits: it begins with the latest request. */
function withTimeoutOf(
  state: AgentState,
  toolExecutionId: string,
  { before, after }: { readonly before: ToolExecution; readonly after: ToolExecution },
  at: Instant,
): AgentState {
  const { execution } = state;
  if (execution?.status !== 'suspended') return state;
  const later = (after.approval?.requestedAt ?? 0) - (before.approval?.requestedAt ?? 0);
  const isTimeout = (entry: Waiting): boolean => entry.type === 'until' && isFor(entry, toolExecutionId);
  const inside = after.waitingInside.find(isTimeout);
  const waiting = execution.waiting.map((entry) => {
    if (entry.type !== 'until' || !isTimeout(entry)) return entry;
    return inside ?? { ...entry, until: entry.until + later };
  });
  return state.withExecutionStatus('suspended', at, waiting);
}

/** Returns the tool execution of the subagent in which a call waits. */
function executionAround(state: AgentState, toolExecutionId: string): ToolExecution | undefined {
  return state.currentStep?.toolExecutions.find(({ waitingInside }) =>
    waitingInside.some((waiting) => isFor(waiting, toolExecutionId)),
  );
}

function withoutWaitingFor(state: AgentState, toolExecutionId: string, at: Instant): AgentState {
  return state.status === 'suspended'
    ? withoutWaits(state, (entry) => isFor(entry, toolExecutionId), at)
    : state;
}

/** Returns the state of a suspended execution without some of its waits. When no other remains, the execution resumes. */
export function withoutWaits(
  state: AgentState,
  isOver: (waiting: Waiting) => boolean,
  at: Instant,
): AgentState {
  const waiting = (state.execution?.waiting ?? []).filter((entry) => !isOver(entry));
  return state.withExecutionStatus(waiting.length === 0 ? 'inProgress' : 'suspended', at, waiting);
}

function isFor(waiting: Waiting, toolExecutionId: string): boolean {
  return 'toolExecutionId' in waiting && waiting.toolExecutionId === toolExecutionId;
}

/**
 * Returns the state with its failed inference to be repeated now, in a subagent too. A `failed` execution is reopened:
 * its errors are marked as resolved, and a new step begins. Any other state is returned unchanged.
 */
export function withRetry(state: AgentState, at: Instant): AgentState {
  const { execution } = state;
  if (execution?.status === 'failed') return state.withExecution(execution.reopened(at), at);
  if (!execution?.waiting.some(isRetry)) return state;
  return withoutWaits(withCallsRetried(state, at), isRetry, at);
}

function withCallsRetried(before: AgentState, at: Instant): AgentState {
  let step = before.currentStep?.withInferenceRetried(at);
  for (const call of step?.toolExecutions ?? []) {
    if (call.waitingInside.some(isRetry))
      step = step?.withToolExecution(withSubagentState(call, (child) => withRetry(child, at)));
  }
  return step ? before.withCurrentStep(step, at) : before;
}

function isRetry({ type }: Waiting): boolean {
  return type === 'retry';
}
