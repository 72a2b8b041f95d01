import type { Instant } from '../clock.ts';
import { readClock, systemClock } from '../clock.ts';
import type { AgentState } from '../state/agent-state.ts';
import type { StopSignal } from '../state/execution/continuation.ts';
import { isAgentStop } from '../state/execution/continuation.ts';
import type { AbortKind } from './stopping/abort.ts';
import { withStopSignalOnce } from './stopping/step-timer.ts';
import type { AgentEventListener, EventBody } from './events.ts';
import { announceTo, eventsBetween } from './events.ts';
import { withinGrace } from './stopping/grace.ts';
import type { Hook, HookContext, HookPoint } from './hooks/hook.ts';
import type { ResultOf } from './hooks/hook-results.ts';
import { Checkpointer } from './checkpointer.ts';
import type { LoopParts, RunParts } from './loop-parts.ts';
import type { ParentRun } from './parent-run.ts';
import { RunSignals } from './stopping/run-signals.ts';
import type { StepperOutcome } from './stepper.ts';
import { applyChecked, nextAction, rebaseToolChanges } from './stepper.ts';
import { WorkTime } from './stopping/work-time.ts';

/**
 * The state of one run in progress: the only variable there is. Whatever changes it goes through `change`, which
 * tells the listeners, and changes nothing once the run is lost; whatever a hook, tool or driver threw ends up in it.
 */
export class RunState {
  state: AgentState;
  readonly loop: LoopParts;
  readonly listeners: readonly AgentEventListener[];
  readonly parent: ParentRun | undefined;
  readonly signals: RunSignals;
  readonly checkpointer: Checkpointer;
  /** While the end is prepared: it is announced as one change. */
  private isBatching = false;
  readonly work: WorkTime;
  /** Ids of the system's clock are new: nobody has to look for them among those there are. */
  private readonly hasNewIds: boolean;

  constructor(state: AgentState, loop: LoopParts, run: RunParts) {
    this.state = state;
    this.loop = loop;
    this.signals = new RunSignals(run.signal, run.checkpoint !== undefined);
    this.checkpointer = new Checkpointer(state, run.checkpoint);
    this.listeners = run.listeners;
    this.parent = run.parent;
    this.work = new WorkTime(readClock(loop.clock));
    this.hasNewIds = loop.clock === systemClock;
  }

  advance(outcome: StepperOutcome): void {
    this.change(applyChecked(this.state, outcome, this.hasNewIds));
  }

  change(state: AgentState): void {
    if (this.isAbandoned()) return;
    const before = this.state;
    this.state = state;
    this.parent?.follow(state);
    this.announce(before, state);
  }

  /**
   * Takes in what a hook made of `base`. What tools have said in the meantime, of progress and usage, stays.
   */
  changeFrom(base: AgentState, changed: AgentState): void {
    this.change(rebaseToolChanges(this.state, base, changed, this.now()));
  }

  /**
   * Takes in what a hook made before a call to a model. When it used something, the limits are asked again, unless the
   * step is stopped already. A promise only when a limit returned one.
   */
  changeBeforeCall(state: AgentState): Promise<unknown> | undefined {
    const before = this.state.execution?.otherUsage;
    this.change(state);
    if (this.state.execution?.otherUsage === before || !this.mayCall()) return undefined;
    const asked = this.enforceLimits();
    return asked instanceof Promise ? asked : undefined;
  }

  /** Is a model still to be called in this step? */
  private mayCall(): boolean {
    if (!this.mayBegin()) return false;
    const { type } = nextAction(this.state);
    return type === 'beginStep' || type === 'infer';
  }

  private async checkLimits(base: AgentState, changed: AgentState): Promise<StopSignal | undefined> {
    const state = rebaseToolChanges(this.state, base, changed, this.now());
    return this.loop.hooks.checkLimits(state, this.context);
  }

  /** Stops by the first limit that is used up. True when there is one; a promise only when a guard returned one. */
  enforceLimits(): boolean | Promise<boolean> {
    const found = this.loop.hooks.checkLimits(this.state, this.context);
    if (found instanceof Promise) return this.inTime(found).then((signal) => this.raiseOnce(signal));
    return this.raiseOnce(found);
  }

  // What is waited for

  /**
   * Calls a hook. A promise only when it returned one, which comes to nothing when the hook does not settle in the time
   * that it has once the run was told to stop.
   */
  callHook<P extends HookPoint>(
    hook: Hook,
    point: P,
    subject: unknown,
    context: HookContext = this.context,
  ): ResultOf<P> | undefined | Promise<ResultOf<P> | undefined> {
    const result = this.loop.hooks.call(hook, point, subject, context);
    return result instanceof Promise ? this.inTime(result) : result;
  }

  private inTime<T>(promise: Promise<T | undefined>): Promise<T | undefined> {
    // Between steps no timer aborts the signal.
    const until = this.signals.isArmed ? undefined : this.loop.hooks.stepDeadline(this.context)?.at;
    const { signal } = this;
    return withinGrace(promise, { signal, until, clock: this.loop.clock, onTimeout: () => this.giveUp() });
  }

  /** A hook has not had its say: what it was asked about is not over as it is. */
  private giveUp(): undefined {
    if (!this.state.execution?.isTerminal) this.checkAbort();
  }

  /** How many stop signals there are. */
  get signalCount(): number {
    return this.state.execution?.continuation.signals.length ?? 0;
  }

  /** Another step was asked for, and is not to be. */
  withdrawRequest(): void {
    this.change(this.state.withoutContinuationRequested(this.now()));
  }

  /** Stops: a request for another step that was made before is withdrawn. */
  raise(signal: StopSignal): void {
    const at = this.now();
    this.change(this.state.withStopSignal(signal, at).withoutContinuationRequested(at));
  }

  /** Changes that are announced as one. */
  async asOneChange(work: () => Promise<void>): Promise<void> {
    const before = this.state;
    this.isBatching = true;
    await work();
    this.isBatching = false;
    if (this.isAbandoned()) return;
    this.announce(before, this.state);
  }

  emit(happening: EventBody): void {
    const { listeners } = this;
    if (listeners.length > 0) announceTo(listeners, { ...happening, at: this.now(), state: this.state });
  }

  /** Tells what has happened between two states. */
  announce(before: AgentState, after: AgentState): void {
    if (this.listeners.length === 0 || this.isBatching || before === after) return;
    for (const happening of eventsBetween(before, after)) this.emit(happening);
  }

  // What was thrown

  /** Puts what was thrown into the state: a stop as a signal, all else as an error, of which OnError is told. */
  async recordThrown(thrown: unknown): Promise<void> {
    if (this.isAbandoned()) return;
    const isOver = this.state.execution?.isTerminal;
    if (isAgentStop(thrown)) {
      this.raise(thrown.signal);
      if (isOver) this.advance({ type: 'finished', at: this.now() });
      return;
    }
    if (isOver) this.change(this.state.withFailure(thrown, this.now()));
    else this.advance({ type: 'failed', error: thrown, at: this.now() });
    for (const hook of this.loop.hooks.at('onError')) {
      if (this.isAbandoned()) return;
      try {
        const state = await this.callHook(hook, 'onError', thrown);
        if (state) this.change(state);
      } catch (secondError) {
        if (isAgentStop(secondError)) this.raise(secondError.signal);
        else this.change(this.state.withError(secondError, this.now()));
      }
    }
  }

  // Aborts

  /** Aborts when the run does, or when the present step is cut off. */
  get signal(): AbortSignal {
    return this.signals.current;
  }

  /** Sees to it that the step that begins is cut off in time. */
  arm(): void {
    if (!this.loop.hooks.hasDeadlines) return;
    const deadline = this.loop.hooks.stepDeadline(this.context);
    if (deadline) this.signals.arm(deadline, this.loop.clock);
  }

  /** The step is over. When it was cut off after its answer had arrived in full, that stays an answer. */
  release(): void {
    const stop = this.signals.release();
    if (stop && !this.state.currentStep?.isFinalResponse) this.raiseOnce(stop);
  }

  /** May something be begun that costs time or money? Takes note of an abort, and of a cut-off that is due. */
  mayBegin(): boolean {
    this.signals.checkTimer();
    return this.checkAbort() === undefined;
  }

  /** Takes note of an abort, once. A cancel becomes a stop signal; otherwise the run is left as it is. */
  checkAbort(): AbortKind | undefined {
    const abort = this.signals.readAbort();
    this.raiseOnce(abort?.stop);
    return abort?.kind;
  }

  private raiseOnce(signal: StopSignal | undefined): boolean {
    if (signal) this.change(withStopSignalOnce(this.state, signal, this.now()));
    return signal !== undefined;
  }

  /** Another process has the execution: from here on nothing is changed. */
  isAbandoned(): boolean {
    return this.signals.isAbandoned();
  }

  /** Is the step in progress to be left open, for another process? */
  isHandedOver(): boolean {
    return this.signals.isHandedOver();
  }

  // Time and identity

  get context(): HookContext {
    const { state } = this;
    return {
      state,
      signal: this.signal,
      clock: this.loop.clock,
      checkLimits: (changed) => this.checkLimits(state, changed),
    };
  }

  now(): Instant {
    return readClock(this.loop.clock);
  }

  /** Counts the seconds worked since they were counted last. */
  countWork(): void {
    const at = this.now();
    const seconds = this.work.count(at);
    if (!this.isAbandoned()) this.state = this.state.withTimeWorked(seconds, at);
  }

  /** Seconds worked in this execution, up to now. */
  get workedSeconds(): number {
    return (this.state.execution?.workedSeconds ?? 0) + this.work.secondsAt(this.now());
  }
}
