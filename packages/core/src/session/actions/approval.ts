import { mustBe, type OptionChecks } from '../../arguments.ts';
import { systemClock, type Clock, type Instant } from '../../clock.ts';
import { describeValue, HoldfastError, invalidArgument } from '../../errors.ts';
import { compact, isEqualJson, toJsonValue, type JsonValue } from '../../json.ts';
import type { AgentLoop } from '../../loop/agent-loop.ts';
import { checkedEdit } from '../../loop/tools/tool-arguments.ts';
import { withTimeoutsApplied } from '../../loop/tools/waiting.ts';
import type { AgentState } from '../../state/agent-state.ts';
import { needsProviderApproval } from '../../state/messages/call-marks.ts';
import type { Approval, ApprovalDecision } from '../../state/tools/approval.ts';
import type { ToolExecution } from '../../state/tools/tool-execution.ts';
import {
  callIn,
  notWaiting,
  toolOf,
  waitingCalls,
  withCallChanged,
  type RequestedCall,
} from './waiting-calls.ts';

/** A decision of a person on a tool call that waits for approval. */
export interface Decision {
  /** The id of the tool execution, as the `waiting` of the execution names it. */
  readonly toolExecutionId: string;
  readonly decision: ApprovalDecision['type'];
  /** The person who decided: any name or id that the application uses. */
  readonly by?: string;
  /** The reason of the decision, which the model reads. */
  readonly reason?: string;
  /**
   * Arguments that replace those of the model, for an approval. The schema of the tool checks them. When the schema
   * changes them, the call requests approval again, for the changed arguments. A call that the provider runs has no
   * other arguments.
   */
  readonly input?: JsonValue;
  /**
   * The `approval.requestedAt` of the call as the person saw it. A call can request approval again after a crash, and a
   * decision on an earlier request must not count for a later one. Required from the second request of a call on.
   */
  readonly requestedAt?: Instant;
}

export const DECISION_CHECKS: OptionChecks<Decision> = {
  toolExecutionId: mustBe.required(mustBe.string),
  decision: mustBe.required(mustBe.oneOf(['approved', 'denied'])),
  by: mustBe.string,
  reason: mustBe.string,
  input: mustBe.anything,
  requestedAt: mustBe.instant,
};

/**
 * Returns the tool executions that wait for approval, those of subagents included.
 * @throws TypeError `ARGUMENT_INVALID` for a value that is not an AgentState.
 */
export function pendingApprovals(state: AgentState): readonly ToolExecution[] {
  return waitingCalls(state, 'pendingApprovals', ({ isAwaitingApproval }) => isAwaitingApproval);
}

/**
 * Returns the state with a decision. When no other wait remains, the execution resumes. When the schema of the tool
 * changes the `input` of a decision, the call waits for another decision, on the changed arguments.
 * @param tools the tools of the agent, `loop.tools`, for a decision with `input`
 * @param clock the clock of the timeout of a check
 * @throws as the action of `approve` does for a call and its `input`.
 * @throws RangeError `ARGUMENT_INVALID` for an invalid decision, and for other arguments of a call that the provider runs.
 */
export async function withDecision(
  before: AgentState,
  decided: Decision,
  tools: AgentLoop['tools'],
  at: Instant,
  clock: Clock = systemClock,
): Promise<AgentState> {
  const { toolExecutionId, decision, requestedAt } = decided;
  const state = withTimeoutsApplied(before, at);
  if (decision !== 'approved' && decision !== 'denied') {
    throw invalidArgument(`The decision must be "approved" or "denied", found ${describeValue(decision)}.`);
  }
  const call = callIn(state, toolExecutionId, tools);
  if (call?.execution.approval === undefined)
    throw notWaiting(toolExecutionId, 'approval', pendingApprovals(state));
  const { execution } = call;
  if (!execution.isAwaitingApproval) throw alreadyDecided(execution);
  if (!isForRequest(execution.approval as Approval, requestedAt)) throw outdated(execution, requestedAt);
  const args = await editedArguments(call, decided, clock);
  return withCallChanged(state, toolExecutionId, (waiting) => decidedCall(waiting, decided, args, at), at);
}

/** Returns the arguments that a person typed, as the schema of the tool returns them. */
async function editedArguments(
  call: RequestedCall,
  { decision, input }: Decision,
  clock: Clock,
): Promise<JsonValue | undefined> {
  if (input === undefined || decision === 'denied') return undefined;
  if (needsProviderApproval(call.execution.call)) throw fixedArguments(call.execution);
  return checkedEdit(toolOf(call), toJsonValue(input), clock);
}

/** Returns the call after the decision. A person must see changed arguments before they count as approved. */
function decidedCall(
  execution: ToolExecution,
  { decision, by, reason, input }: Decision,
  args: JsonValue | undefined,
  at: Instant,
): ToolExecution {
  if (args !== undefined && !isEqualJson(args, toJsonValue(input)))
    return execution.withApprovalRequestedFor(args, at);
  const recorded = compact({ type: decision, at, by, reason });
  return (args === undefined ? execution : execution.withEditedArgs(args)).withDecision(recorded);
}

/** True when the person saw this request. Without `requestedAt`, only a first request is certainly the one seen. */
function isForRequest(pending: Approval, requestedAt: Instant | undefined): boolean {
  return requestedAt === undefined
    ? pending.requestNumber === undefined
    : requestedAt === pending.requestedAt;
}

function alreadyDecided({ id, approval }: ToolExecution): HoldfastError {
  const { type, by } = approval?.decision ?? {};
  const message = `Tool call "${id}" was already ${type}${by === undefined ? '' : ` by ${by}`}. The first decision counts.`;
  return new HoldfastError('APPROVAL_DECIDED', message, {
    data: { toolExecutionId: id, decision: approval?.decision },
  });
}

function fixedArguments({ name }: ToolExecution): Error {
  return invalidArgument(
    `The provider runs tool "${name}" with the arguments of the model. Omit "input", or deny the call.`,
  );
}

function outdated({ id, approval }: ToolExecution, seen: Instant | undefined): HoldfastError {
  const { requestedAt, requestNumber } = approval ?? {};
  const found = seen === undefined ? 'names no request' : `is on the request at ${seen}`;
  const message = `The decision ${found}, but tool call "${id}" requested approval again at ${requestedAt}. Show the call again, and pass its approval.requestedAt.`;
  const data = { toolExecutionId: id, requestedAt, ...(requestNumber !== undefined && { requestNumber }) };
  return new HoldfastError('APPROVAL_OUTDATED', message, { data });
}
