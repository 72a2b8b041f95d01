import type { Instant } from '../../clock.ts';
import { withSubagentState } from '../../loop/tools/waiting.ts';
import type { AgentState } from '../../state/agent-state.ts';

/**
 * Returns the state with its failed inference to be repeated now, in a subagent too. A `failed` execution is reopened:
 * its errors are marked as resolved, and a new step begins. Any other state is returned unchanged.
 */
export function withRetry(state: AgentState, at: Instant): AgentState {
  const { execution } = state;
  if (execution?.status === 'failed') return state.withExecution(execution.reopened(at), at);
  if (!execution?.waiting.some(({ type }) => type === 'retry')) return state;
  const waiting = execution.waiting.filter(({ type }) => type !== 'retry');
  const retried = withCallsRetried(state, at);
  return retried.withExecutionStatus(waiting.length === 0 ? 'inProgress' : 'suspended', at, waiting);
}

function withCallsRetried(before: AgentState, at: Instant): AgentState {
  let step = before.currentStep?.withInferenceRetried(at);
  for (const call of step?.toolExecutions ?? []) {
    if (call.waitingInside.some(({ type }) => type === 'retry'))
      step = step?.withToolExecution(withSubagentState(call, (child) => withRetry(child, at)));
  }
  return step ? before.withCurrentStep(step, at) : before;
}
