import type { Instant } from '../clock.ts';
import { describeValue, HoldfastError, invalidArgument } from '../errors.ts';
import type { JsonValue } from '../json.ts';
import type { AgentState } from '../state/agent-state.ts';
import type { Waiting } from '../state/execution.ts';
import type { ApprovalDecision, ToolExecution } from '../state/tool-execution.ts';

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

/** The calls of a state that wait for a person. */
export function pendingApprovals(state: AgentState): readonly ToolExecution[] {
  return state.currentStep?.toolExecutions.filter(({ isAwaitingApproval }) => isAwaitingApproval) ?? [];
}

/**
 * The state with a decision. When it was the last that the execution waited for, the execution goes on.
 * @throws HoldfastError `APPROVAL_NOT_FOUND` when no such call waits or has waited in this step, `APPROVAL_DECIDED` when
 * somebody was first; RangeError `ARGUMENT_INVALID` for what is no decision.
 */
export function withDecision(state: AgentState, decided: Decision, at: Instant): AgentState {
  const { toolExecutionId, decision, by, reason, input } = decided;
  if (decision !== 'approved' && decision !== 'denied') {
    throw invalidArgument(`A decision is "approved" or "denied", found ${describeValue(decision)}.`);
  }
  const step = state.currentStep;
  const asked = step?.toolExecutions.find(({ id }) => id === toolExecutionId);
  if (step === undefined || asked?.approval === undefined) throw notFound(state, toolExecutionId);
  if (!asked.isAwaitingApproval) throw alreadyDecided(asked);
  const call = input === undefined ? asked.call : { ...asked.call, input };
  const word = {
    type: decision,
    at,
    ...(by !== undefined && { by }),
    ...(reason !== undefined && { reason }),
  };
  const changed = state.withCurrentStep(step.withToolExecution(asked.withDecision(word, call)), at);
  if (changed.status !== 'suspended') return changed;
  const waiting = (state.execution?.waiting ?? []).filter((entry) => !isFor(entry, toolExecutionId));
  return waiting.length === 0
    ? changed.withExecutionStatus('inProgress', at)
    : changed.withExecutionStatus('suspended', at, waiting);
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
