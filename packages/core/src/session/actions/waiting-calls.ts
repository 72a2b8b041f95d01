import type { Instant } from '../../clock.ts';
import { subagentState } from '../../loop/tools/waiting.ts';
import type { AgentState } from '../../state/agent-state.ts';
import type { ToolExecution } from '../../state/execution/tool-execution.ts';
import type { Waiting } from '../../state/execution/waiting.ts';

/** Returns the tool executions of the open step that are pending, those of subagents included. */
export function waitingCalls(
  state: AgentState,
  isPending: (execution: ToolExecution) => boolean,
): readonly ToolExecution[] {
  const executions = state.currentStep?.toolExecutions ?? [];
  return executions.flatMap((execution) => {
    if (isPending(execution)) return [execution];
    if (execution.isAwaitingAnswer || execution.waitingInside.length === 0) return [];
    return waitingCalls(subagentState(execution), isPending);
  });
}

/** Returns the tool execution of the subagent in which a call waits. */
export function executionAround(state: AgentState, toolExecutionId: string): ToolExecution | undefined {
  return state.currentStep?.toolExecutions.find(({ waitingInside }) =>
    waitingInside.some((waiting) => isFor(waiting, toolExecutionId)),
  );
}

/** Returns the state without the entries of a call. When no other entry remains, the execution resumes. */
export function withoutWaitingFor(state: AgentState, toolExecutionId: string, at: Instant): AgentState {
  if (state.status !== 'suspended') return state;
  const waiting = (state.execution?.waiting ?? []).filter((entry) => !isFor(entry, toolExecutionId));
  return waiting.length === 0
    ? state.withExecutionStatus('inProgress', at)
    : state.withExecutionStatus('suspended', at, waiting);
}

function isFor(waiting: Waiting, toolExecutionId: string): boolean {
  return 'toolExecutionId' in waiting && waiting.toolExecutionId === toolExecutionId;
}
