import type { Instant } from '../../clock.ts';
import type { AgentState } from '../../state/agent-state.ts';
import type { StopSignal } from '../../state/execution/continuation.ts';

/**
 * Returns the state with a stop signal. A suspended execution resumes, so that it can end, and a request for another step
 * is withdrawn: it must not override the signal.
 */
export function withStop(state: AgentState, signal: StopSignal, at: Instant): AgentState {
  const resumed = state.status === 'suspended' ? state.withExecutionStatus('inProgress', at) : state;
  return resumed.withStopSignal(signal, at).withoutContinuationRequested(at);
}

/**
 * Does the same as `withStop`, unless the state has a signal with this reason and source that no step has overridden: it
 * then adds none.
 */
export function withStopOnce(state: AgentState, signal: StopSignal, at: Instant): AgentState {
  const isNoted = state.execution?.continuation.includes(signal);
  return isNoted ? state.withoutContinuationRequested(at) : withStop(state, signal, at);
}

/**
 * Returns the state that a hook returned, with the stop that no hook lifts. The signals of the state before stay. While a
 * forced stop ends the execution, the hook cannot suspend it, request another step, or choose another end.
 */
export function withStopKept(before: AgentState, after: AgentState): AgentState {
  const [was, is] = [before.execution, after.execution];
  if (was === is || was?.executionId !== is?.executionId) return after;
  if (was === undefined || is === undefined) return after;
  const at = after.updatedAt;
  const state = after.withExecution(is.withContinuation(is.continuation.withStopsOf(was.continuation)), at);
  const { execution } = state;
  if (execution?.continuation.isStopped !== true) return state;
  if (was.isTerminal || is.isTerminal) return state.withExecutionCompleted(at);
  return was.status === 'inProgress'
    ? state.withExecution(execution.withStatus('inProgress', at), at)
    : state;
}
