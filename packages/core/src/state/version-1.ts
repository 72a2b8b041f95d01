import { isJsonObject, isSameJson, type JsonValue } from '../json.ts';
import type { ExecutionState } from './execution/execution.ts';
import type { ToolExecution } from './tools/tool-execution.ts';
import type { Waiting } from './values/waiting.ts';

/**
 * Migrates an execution from version 1 to version 2, in which the `waiting` entries of a subagent are a member of its
 * call. In version 1 these entries were in the progress of the call, which is the state of the subagent, and in
 * `waiting` of the execution.
 */
export function withWaitingInside(execution: ExecutionState): ExecutionState {
  const { currentStep: step, currentStepStartedAt = execution.startedAt, waiting } = execution;
  if (step === undefined || waiting.length === 0) return execution;
  const toolExecutions = step.toolExecutions.map((one) => waitingTogether(one, waiting));
  return execution.withNewStep(step.withToolExecutions(toolExecutions), currentStepStartedAt);
}

function waitingTogether(execution: ToolExecution, all: readonly Waiting[]): ToolExecution {
  if (!execution.isRunning || execution.isAwaitingApproval) return execution;
  const inside = waitingOf(execution.progress);
  const known = all.filter((waiting) => inside.some((other) => isSameJson(other, waiting)));
  const isWhole = inside.every((other) => known.some((waiting) => isSameJson(other, waiting)));
  return isWhole ? execution.withWaitingInside(known) : execution;
}

/** Returns the `waiting` entries in the state of a suspended subagent. */
function waitingOf(progress: JsonValue | undefined): readonly JsonValue[] {
  if (!isJsonObject(progress) || progress['format'] !== 'holdfast/agent-state') return [];
  const { execution } = progress;
  const isSuspended = isJsonObject(execution) && execution['status'] === 'suspended';
  return isSuspended && Array.isArray(execution['waiting']) ? execution['waiting'] : [];
}
