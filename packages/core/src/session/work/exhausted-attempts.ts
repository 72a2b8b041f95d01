import type { Clock } from '../../clock.ts';
import { HoldfastError } from '../../errors.ts';
import { applyOutcome } from '../../loop/stepper.ts';
import type { AgentState } from '../../state/agent-state.ts';
import { stopSignal } from '../../state/execution/continuation.ts';
import { newStepMessageIds } from '../../state/execution/step-output.ts';

/**
 * The state with its execution failed after too many failed attempts. It runs no code of the agent: that code may be what
 * the attempts failed at.
 */
export function withAttemptsExhausted(state: AgentState, maxAttempts: number, clock: Clock): AgentState {
  const at = clock.now();
  const message = `${maxAttempts} attempts in a row at one step failed; the execution is given up.`;
  const error = new HoldfastError('ATTEMPTS_EXHAUSTED', message, { data: { maxAttempts } });
  let failed = applyOutcome(state.withExecutionStatus('inProgress', at), { type: 'failed', error, at });
  failed = failed.withStopSignal(stopSignal({ reason: 'retryLimitReached', message, source: 'runtime' }), at);
  failed = applyOutcome(failed, { type: 'stepClosed', messageIds: newStepMessageIds(clock), at });
  return applyOutcome(failed, { type: 'finished', at });
}
