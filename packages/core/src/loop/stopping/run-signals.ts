import { callAfter, type Clock, type Instant } from '../../clock.ts';
import { stopSignal, type StopSignal } from '../../state/execution/continuation.ts';
import { abortKind, abortMessage, eitherSignal, RunAbort, type AbortKind } from './abort.ts';
import type { StepDeadline } from '../hooks/hook.ts';
import type { WorkClock } from './work-clock.ts';

/** The hooks that set deadlines of a step. */
export interface DeadlineHooks {
  /** Returns the earliest deadline, by a clock. Without a clock: by that of the loop. */
  stepDeadline(clock?: Clock): StepDeadline | undefined;
}

/** The signals that stop a run: the signal of its caller, and the deadline of the current step. */
export class RunSignals {
  /** The caller's signal, which also aborts when the run becomes lost. */
  readonly runSignal: AbortSignal;
  private readonly abandonController: AbortController | undefined;
  /** Aborts the current step at its deadline, if a hook sets one. */
  private timer: StepTimer | undefined;
  /** Aborts when the run is aborted, and at the step deadline. */
  private stepSignal: AbortSignal | undefined;
  /** Set when the run hands its execution over to another process. */
  private handedOverBy: AbortKind | undefined;

  constructor(given: AbortSignal, canBeAbandoned: boolean) {
    this.abandonController = canBeAbandoned ? new AbortController() : undefined;
    this.runSignal = this.abandonController ? AbortSignal.any([given, this.abandonController.signal]) : given;
  }

  /** Aborts when the run is aborted, and at the step deadline. */
  get current(): AbortSignal {
    return this.stepSignal ?? this.runSignal;
  }

  /** The signal for tools: it aborts as `heldSignal` does, and at the step deadline. */
  forTools(heldSignal: AbortSignal): AbortSignal {
    return this.timer === undefined ? heldSignal : eitherSignal(heldSignal, this.timer.signal);
  }

  /** Sets the deadline of the step that begins, if there is one. */
  arm(hooks: DeadlineHooks, clock: WorkClock): void {
    const deadline = hooks.stepDeadline();
    if (deadline === undefined) return;
    this.timer = new StepTimer(deadline, hooks, clock);
    this.stepSignal = eitherSignal(this.runSignal, this.timer.signal);
  }

  /** True when the current step has a deadline. */
  get isArmed(): boolean {
    return this.timer !== undefined;
  }

  /** Ends the step's deadline. Returns its stop signal when the deadline passed and nothing else has ended the run. */
  release(): StopSignal | undefined {
    const { timer } = this;
    if (timer === undefined) return undefined;
    timer.disarm();
    this.timer = this.stepSignal = undefined;
    if (!timer.signal.aborted || this.isAbandoned() || abortKind(this.runSignal) === 'cancel')
      return undefined;
    return timer.stopSignal;
  }

  /** Aborts the step if its deadline has passed. */
  checkTimer(): void {
    this.timer?.check();
  }

  /** The kind of the abort, and the stop signal to raise for it. After a yield or a loss, the run is handed over. */
  readAbort(): { readonly kind: AbortKind; readonly stop?: StopSignal | undefined } | undefined {
    if (this.handedOverBy === 'lost') return { kind: 'lost' };
    if (!this.current.aborted) return undefined;
    const kind = abortKind(this.runSignal);
    if (kind === undefined) return { kind: 'cancel', stop: this.timer?.stopSignal };
    if (kind === 'cancel') return { kind, stop: abortStopSignal(this.runSignal) };
    this.handedOverBy = kind;
    return { kind };
  }

  /** True when another worker has the execution. */
  isAbandoned(): boolean {
    if (this.handedOverBy === 'lost') return true;
    if (this.runSignal.aborted && abortKind(this.runSignal) === 'lost') this.handedOverBy = 'lost';
    return this.handedOverBy === 'lost';
  }

  /** Marks the run as lost and aborts its work. */
  abandon(): void {
    this.handedOverBy = 'lost';
    this.abandonController?.abort(new RunAbort('lost'));
  }

  /** True when the open step must stay open for another process. */
  isHandedOver(): boolean {
    return this.isAbandoned() || this.handedOverBy !== undefined;
  }
}

function abortStopSignal(signal: AbortSignal): StopSignal {
  return stopSignal({ reason: 'userRequested', message: abortMessage(signal), source: 'abort' });
}

/**
 * Aborts its signal at a deadline, unless it is disarmed before. After a sleep of the machine the hooks set the deadline anew,
 * by a clock that left the sleep out: a limit of work moves, and an instant stays.
 */
class StepTimer {
  private readonly controller = new AbortController();
  readonly signal = this.controller.signal;
  private deadline: StepDeadline;
  private readonly hooks: DeadlineHooks;
  private readonly clock: WorkClock;
  private readonly armedAt: Instant;
  private readonly sleptBefore: number;
  private callOff: () => void;

  constructor(deadline: StepDeadline, hooks: DeadlineHooks, clock: WorkClock) {
    this.deadline = deadline;
    this.hooks = hooks;
    this.clock = clock;
    this.sleptBefore = clock.slept();
    this.armedAt = clock.now();
    this.callOff = this.callAt(this.armedAt);
  }

  /** The stop signal to raise after the abort. */
  get stopSignal(): StopSignal {
    return this.deadline.signal;
  }

  disarm(): void {
    this.callOff();
  }

  /** Aborts the signal if the deadline has passed. A timer cannot fire while code runs without a pause. */
  check(): void {
    if (!this.signal.aborted && this.clock.now() >= this.deadline.at) this.expire();
  }

  private callAt(now: Instant): () => void {
    return callAfter(this.clock.given, this.deadline.at - now, () => this.expire());
  }

  private expire(): void {
    const sleptMs = this.clock.slept() - this.sleptBefore;
    if (sleptMs > 0 && this.isMoved(sleptMs)) {
      this.callOff();
      this.callOff = this.callAt(this.clock.now());
    } else this.controller.abort(new RunAbort('cancel', this.deadline.signal.message));
  }

  /** Asks for the deadline of a step that began later. Returns true when it has not passed yet. */
  private isMoved(sleptMs: number): boolean {
    const { clock, hooks, armedAt } = this;
    try {
      const later = { now: () => armedAt + sleptMs, newId: () => clock.newId() };
      this.deadline = hooks.stepDeadline(later) ?? this.deadline;
    } catch {
      // The deadline that the hooks set before stays.
    }
    return clock.now() < this.deadline.at;
  }
}
