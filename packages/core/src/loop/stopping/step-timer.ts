import { callAfter, type Clock, type Instant } from '../../clock.ts';
import type { StopSignal } from '../../state/execution/continuation.ts';
import { RunAbort } from './abort.ts';
import type { StepDeadline } from '../hooks/hook.ts';

/** Aborts its signal at an instant, unless it is disarmed before. */
export class StepTimer {
  readonly signal: AbortSignal;
  /** The stop signal to raise after the abort. */
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

  disarm(): void {
    this.callOff();
  }

  /** Aborts the signal if the instant has passed. A timer cannot fire while code runs without a pause. */
  check(): void {
    if (!this.signal.aborted && this.clock.now() >= this.at) abortStep(this.controller, this.stopSignal);
  }
}

function abortStep(controller: AbortController, { message }: StopSignal): void {
  controller.abort(new RunAbort('cancel', message));
}
