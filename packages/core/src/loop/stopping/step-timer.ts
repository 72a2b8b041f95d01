import type { Clock, Instant } from '../../clock.ts';
import { callAfter } from '../../clock.ts';
import type { AgentState } from '../../state/agent-state.ts';
import type { StopSignal } from '../../state/execution/continuation.ts';
import { RunAbort } from './abort.ts';
import type { StepDeadline } from '../hooks/hook.ts';

/** Aborts its signal at a moment, unless it is called off before. */
export class StepTimer {
  readonly signal: AbortSignal;
  /** Why, once it has. */
  readonly stopSignal: StopSignal;
  private readonly at: Instant;
  private readonly clock: Clock;
  private readonly controller = new AbortController();
  private readonly callOff: () => void;

  constructor({ at, signal }: StepDeadline, clock: Clock) {
    this.signal = this.controller.signal;
    this.stopSignal = signal;
    this.at = at;
    this.clock = clock;
    const { controller } = this;
    this.callOff = callAfter(clock, at - clock.now(), () => abortStep(controller, signal));
  }

  /** Calls it off. */
  disarm(): void {
    this.callOff();
  }

  /** Sees whether the moment has come: timers wait for as long as code runs without a pause. */
  check(): void {
    if (!this.signal.aborted && this.clock.now() >= this.at) abortStep(this.controller, this.stopSignal);
  }
}

function abortStep(controller: AbortController, { message }: StopSignal): void {
  controller.abort(new RunAbort('cancel', message));
}

/**
 * The state, told to stop once for this reason of this source. A request for another step is withdrawn: whoever
 * enforces a limit is not to be talked over.
 */
export function withStopSignalOnce(state: AgentState, signal: StopSignal, at: Instant): AgentState {
  const isNoted = state.execution?.continuation.includes(signal);
  return (isNoted ? state : state.withStopSignal(signal, at)).withoutContinuationRequested(at);
}
