import type { Instant } from '../../clock.ts';
import { withSubagentState } from '../../loop/tools/waiting.ts';
import type { AgentState } from '../../state/agent-state.ts';
import type { Waiting } from '../../state/values/waiting.ts';
import { withoutWaits } from './waiting-calls.ts';

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
