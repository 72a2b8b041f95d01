import type { Clock } from '../../clock.ts';
import type { StopSignal } from '../../state/execution/continuation.ts';
import { stopSignal } from '../../state/execution/continuation.ts';
import { abortKind, abortMessage, canAbort, RunAbort } from './abort.ts';
import type { AbortKind } from './abort.ts';
import { StepTimer } from './step-timer.ts';
import type { StepDeadline } from '../hooks/hook.ts';

/** What tells a run to stop: the signal of its caller, and the moment at which the present step is cut off. */
export class RunSignals {
  /** The caller's, which also aborts when the run is lost on the way. */
  readonly runSignal: AbortSignal;
  private readonly abandonController: AbortController | undefined;
  /** Cuts the present step off, when a hook wants that. */
  private timer: StepTimer | undefined;
  /** Aborts when the run does and when the timer goes off. */
  private stepSignal: AbortSignal | undefined;
  /** Set when the run is to be left as it is: another process goes on with it. */
  private handedOverBy: AbortKind | undefined;

  constructor(given: AbortSignal, canBeAbandoned: boolean) {
    this.abandonController = canBeAbandoned ? new AbortController() : undefined;
    this.runSignal = this.abandonController ? AbortSignal.any([given, this.abandonController.signal]) : given;
  }

  /** Aborts when the run does, or when the present step is cut off. */
  get current(): AbortSignal {
    return this.stepSignal ?? this.runSignal;
  }

  /** The same for tools: a run that yields lets them end. */
  forTools(heldSignal: AbortSignal): AbortSignal {
    if (this.timer === undefined) return heldSignal;
    const { signal } = this.timer;
    return canAbort(heldSignal) ? AbortSignal.any([heldSignal, signal]) : signal;
  }

  /** Sees to it that the step that begins is cut off in time. */
  arm(deadline: StepDeadline, clock: Clock): void {
    this.timer = new StepTimer(deadline, clock);
    const { signal } = this.timer;
    this.stepSignal = canAbort(this.runSignal) ? AbortSignal.any([this.runSignal, signal]) : signal;
  }

  /** Is the present step cut off at some moment? */
  get isArmed(): boolean {
    return this.timer !== undefined;
  }

  /** The step is over. Gives the signal to raise when it was cut off, and nothing else has ended the run. */
  release(): StopSignal | undefined {
    const { timer } = this;
    if (timer === undefined) return undefined;
    timer.disarm();
    this.timer = this.stepSignal = undefined;
    if (!timer.signal.aborted || this.isAbandoned() || abortKind(this.runSignal) === 'cancel')
      return undefined;
    return timer.stopSignal;
  }

  /** Sees whether the step is due to be cut off. */
  checkTimer(): void {
    this.timer?.check();
  }

  /** What the run was told, and the signal to raise for it; a run that is not to stop is left from then on. */
  readAbort(): { readonly kind: AbortKind; readonly stop?: StopSignal | undefined } | undefined {
    if (this.handedOverBy === 'lost') return { kind: 'lost' };
    if (!this.current.aborted) return undefined;
    const kind = abortKind(this.runSignal);
    if (kind === undefined) return { kind: 'cancel', stop: this.timer?.stopSignal };
    if (kind === 'cancel') return { kind, stop: abortStopSignal(this.runSignal) };
    this.handedOverBy = kind;
    return { kind };
  }

  /** Another process has the execution. */
  isAbandoned(): boolean {
    if (this.handedOverBy === 'lost') return true;
    if (this.runSignal.aborted && abortKind(this.runSignal) === 'lost') this.handedOverBy = 'lost';
    return this.handedOverBy === 'lost';
  }

  /** From here on the run is another's: what is under way is called off. */
  abandon(): void {
    this.handedOverBy = 'lost';
    this.abandonController?.abort(new RunAbort('lost'));
  }

  /** Is the step in progress to be left open, for another process? */
  isHandedOver(): boolean {
    return this.isAbandoned() || this.handedOverBy !== undefined;
  }
}

function abortStopSignal(signal: AbortSignal): StopSignal {
  return stopSignal({ reason: 'userRequested', message: abortMessage(signal), source: 'abort' });
}
