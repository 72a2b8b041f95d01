import type { AgentState, ToolExecution } from '@holdfast/core';
import { approvalIdOf } from './tool-part.ts';

/** Returns the id that a page knows a waiting call by: that of the model, or that of the execution within a subagent. */
export function callIdOf({ currentStep }: AgentState, { id, call }: ToolExecution): string {
  const isOwn = currentStep?.toolExecutions.some((execution) => execution.id === id) ?? false;
  return isOwn ? call.toolCallId : id;
}

/** Returns the id that a page knows the approval of a waiting call by. */
export function approvalIdOfCall(state: AgentState, execution: ToolExecution): string {
  const stepId = state.currentStep?.id ?? '';
  return approvalIdOf(stepId, callIdOf(state, execution), execution.approval?.requestNumber);
}
