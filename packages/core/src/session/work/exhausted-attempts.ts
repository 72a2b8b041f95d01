import type { Clock } from '../../clock.ts';
import { HoldfastError } from '../../errors.ts';
import { applyOutcome } from '../../loop/steps/stepper.ts';
import type { AgentState } from '../../state/agent-state.ts';
import { stopSignal } from '../../state/execution/continuation.ts';
import { newStepMessageIds } from '../../state/execution/step-output.ts';

/**
 * Returns the state with its execution failed after too many failed attempts. It runs no code of the agent, because
 * that code may be the cause of the failures.
 */
export function withAttemptsExhausted(state: AgentState, maxAttempts: number, clock: Clock): AgentState {
  const at = clock.now();
  const message = `The execution failed after ${maxAttempts} failed attempts in a row at one step.`;
  const error = new HoldfastError('ATTEMPTS_EXHAUSTED', message, { data: { maxAttempts } });
  let failed = applyOutcome(state.withExecutionStatus('inProgress', at), { type: 'failed', error, at });
  failed = failed.withStopSignal(stopSignal({ reason: 'retryLimitReached', message, source: 'runtime' }), at);
  failed = applyOutcome(failed, { type: 'stepClosed', messageIds: newStepMessageIds(clock), at });
  return applyOutcome(failed, { type: 'finished', at });
}
