import type { OptionChecks } from '../../arguments.ts';
import { mustBe } from '../../arguments.ts';
import type { Instant } from '../../clock.ts';
import { describeValue, HoldfastError, invalidArgument } from '../../errors.ts';
import type { JsonValue } from '../../json.ts';
import { withSubagentState, withTimeoutsApplied } from '../../loop/tools/waiting.ts';
import { AgentState } from '../../state/agent-state.ts';
import { requireState } from '../../state/require-state.ts';
import type { ApprovalDecision } from '../../state/execution/approval.ts';
import type { ToolExecution } from '../../state/execution/tool-execution.ts';
import type { Waiting } from '../../state/execution/waiting.ts';

/** A person's word on a call that waits for it. */
export interface Decision {
  /** Which call: as the execution's `waiting` names it. */
  readonly toolExecutionId: string;
  readonly decision: ApprovalDecision['type'];
  /** Who decided, as the application names people. */
  readonly by?: string;
  /** Why, for the model to read. */
  readonly reason?: string;
  /** Other arguments than the model gave, for an approval. They are checked like the model's when the tool runs. */
  readonly input?: JsonValue;
}

export const DECISION_CHECKS: OptionChecks<Decision> = {
  toolExecutionId: mustBe.required(mustBe.string),
  decision: mustBe.required(mustBe.oneOf(['approved', 'denied'])),
  by: mustBe.string,
  reason: mustBe.string,
  input: mustBe.anything,
};

/**
 * The calls of a state that wait for a person, those of its subagents included.
 * @throws TypeError `ARGUMENT_INVALID` for what is not a state.
 */
export function pendingApprovals(state: AgentState): readonly ToolExecution[] {
  requireState(state, 'pendingApprovals');
  const executions = state.currentStep?.toolExecutions ?? [];
  return executions.flatMap((execution) => {
    if (execution.isAwaitingApproval) return [execution];
    if (execution.waitingInside.length === 0) return [];
    return pendingApprovals(AgentState.fromJSON(structuredClone(execution.progress)));
  });
}

/**
 * The state with a decision. When it was the last that the execution waited for, the execution goes on.
 * @throws HoldfastError `APPROVAL_NOT_FOUND` when no such call waits or has waited in this step, `APPROVAL_DECIDED` when
 * somebody was first, or the time is over; RangeError `ARGUMENT_INVALID` for what is no decision.
 */
export function withDecision(before: AgentState, decided: Decision, at: Instant): AgentState {
  const { toolExecutionId, decision, by, reason, input } = decided;
  const state = withTimeoutsApplied(before, at);
  if (decision !== 'approved' && decision !== 'denied') {
    throw invalidArgument(`A decision is "approved" or "denied", found ${describeValue(decision)}.`);
  }
  const step = state.currentStep;
  const execution = step?.toolExecutions.find(({ id }) => id === toolExecutionId);
  const inside = execution ? undefined : executionAround(state, toolExecutionId);
  if (step && inside) {
    const changed = withSubagentState(inside, (child) => withDecision(child, decided, at));
    return withoutWaitingFor(state.withCurrentStep(step.withToolExecution(changed), at), toolExecutionId, at);
  }
  if (step === undefined || execution?.approval === undefined) throw notFound(state, toolExecutionId);
  if (!execution.isAwaitingApproval) throw alreadyDecided(execution);
  const call = input === undefined ? execution.call : { ...execution.call, input };
  const recorded = {
    type: decision,
    at,
    ...(by !== undefined && { by }),
    ...(reason !== undefined && { reason }),
  };
  const changed = state.withCurrentStep(step.withToolExecution(execution.withDecision(recorded, call)), at);
  return withoutWaitingFor(changed, toolExecutionId, at);
}

/** The call of a subagent inside which the other call waits. */
function executionAround(state: AgentState, toolExecutionId: string): ToolExecution | undefined {
  return state.currentStep?.toolExecutions.find(({ waitingInside }) =>
    waitingInside.some((waiting) => isFor(waiting, toolExecutionId)),
  );
}

function withoutWaitingFor(state: AgentState, toolExecutionId: string, at: Instant): AgentState {
  if (state.status !== 'suspended') return state;
  const waiting = (state.execution?.waiting ?? []).filter((entry) => !isFor(entry, toolExecutionId));
  return waiting.length === 0
    ? state.withExecutionStatus('inProgress', at)
    : state.withExecutionStatus('suspended', at, waiting);
}

function isFor(waiting: Waiting, toolExecutionId: string): boolean {
  return 'toolExecutionId' in waiting && waiting.toolExecutionId === toolExecutionId;
}

function notFound(state: AgentState, toolExecutionId: string): HoldfastError {
  const ids = pendingApprovals(state).map(({ id }) => id);
  const message = `No call "${toolExecutionId}" waits for approval. Waiting: ${ids.join(', ') || 'none'}.`;
  return new HoldfastError('APPROVAL_NOT_FOUND', message, { data: { toolExecutionId, waiting: ids } });
}

function alreadyDecided({ id, approval }: ToolExecution): HoldfastError {
  const { type, by } = approval?.decision ?? {};
  const message = `The call "${id}" was ${type}${by === undefined ? '' : ` by ${by}`} before. A decision is made once.`;
  return new HoldfastError('APPROVAL_DECIDED', message, {
    data: { toolExecutionId: id, decision: approval?.decision },
  });
}
