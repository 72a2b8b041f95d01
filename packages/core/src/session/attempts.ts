import type { Clock } from '../clock.ts';
import { HoldfastError } from '../errors.ts';
import { leftRunning } from '../loop/left-tools.ts';
import { apply } from '../loop/stepper.ts';
import type { AgentState } from '../state/agent-state.ts';
import { stopSignal } from '../state/continuation.ts';
import { newStepMessageIds } from '../state/step.ts';
import { withChildrenEnded } from './children.ts';
import type { AgentSession } from './session.ts';
import type { SessionWork } from './session-work.ts';
import type { WorkParts } from './work-parts.ts';

/**
 * The state with its execution failed, because one attempt after another has failed: processes may have died over it.
 * Nothing of the agent's code is asked: it may be what they died of.
 */
function withAttemptsExhausted(state: AgentState, maxAttempts: number, clock: Clock): AgentState {
  const at = clock.now();
  const message = `${maxAttempts} attempts in a row at one step failed; the execution is given up.`;
  const error = new HoldfastError('ATTEMPTS_EXHAUSTED', message, { data: { maxAttempts } });
  let failed = apply(state.withExecutionStatus('inProgress', at), { type: 'failed', error, at });
  failed = failed.withStopSignal(stopSignal({ reason: 'retryLimitReached', message, source: 'runtime' }), at);
  for (const outcome of leftRunning(failed, () => at)) failed = apply(failed, outcome);
  failed = apply(failed, { type: 'stepClosed', messageIds: newStepMessageIds(clock), at });
  return apply(failed, { type: 'finished', at });
}

/** The session as it is taken up: with what has come in, and failed after too many attempts. */
export async function takenUp(work: SessionWork, parts: WorkParts): Promise<AgentSession> {
  const { store, clock, maxAttempts } = parts;
  const { latest } = work;
  if (work.attempt <= maxAttempts) {
    const session = work.withMail(latest);
    return session.withState(await withChildrenEnded(session.state, store, clock.now()));
  }
  const givenUp = (session: AgentSession): AgentSession =>
    session.state.hasActiveExecution
      ? session.withState(withAttemptsExhausted(session.state, maxAttempts, clock))
      : session;
  // Nothing was begun: what has come in may be what they died of.
  if (!latest.state.hasActiveExecution) return givenUp(work.withMail(latest));
  return work.withMail(await work.save(givenUp(latest)));
}
