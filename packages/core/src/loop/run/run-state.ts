import { readClock, systemClock, type Instant } from '../../clock.ts';
import type { AgentState } from '../../state/agent-state.ts';
import { isAgentStop, type StopSignal } from '../../state/execution/continuation.ts';
import type { AgentStep } from '../../state/execution/step.ts';
import type { ExecutionId } from '../../state/values/ids.ts';
import { abortKind, type AbortKind } from '../stopping/abort.ts';
import { withStop, withStopKept, withStopOnce } from '../stopping/final-stop.ts';
import {
  announceTo,
  eventOf,
  eventsBetween,
  withToolsOfLoop,
  type AgentEventListener,
  type EventBody,
} from '../steps/events.ts';
import { withinGrace } from '../stopping/grace.ts';
import type { Hook, HookContext, HookPoint } from '../hooks/hook.ts';
import type { ResultOf } from '../hooks/hook-results.ts';
import { Checkpointer } from './checkpointer.ts';
import type { LoopParts, RunParts } from './loop-parts.ts';
import type { ParentRun } from './parent-run.ts';
import { RunSignals } from '../stopping/run-signals.ts';
import { applyChecked, nextAction, rebaseToolChanges, type StepperOutcome } from '../steps/stepper.ts';
import { WorkTime } from '../stopping/work-time.ts';

/**
 * The state of one run in progress, its only variable. Every change goes through `change`, which notifies the listeners
 * and does nothing once the run is lost. Errors of hooks, tools and drivers are recorded in the state.
 */
export class RunState {
  state: AgentState;
  readonly loop: LoopParts;
  readonly listeners: readonly AgentEventListener[];
  readonly parent: ParentRun | undefined;
  /** The value for tools and hooks. It must not enter the state, events or errors. */
  readonly runContext: unknown;
  /** Returns the session of the run, for events. */
  readonly session: RunParts['session'];
  /** Returns a promise while the reader of the run's events is behind. */
  readonly awaitReader: RunParts['awaitReader'];
  readonly signals: RunSignals;
  readonly checkpointer: Checkpointer;
  /** True while the end is prepared, which is announced as one change. */
  private isBatching = false;
  readonly work: WorkTime;
  /** The step that this run began last, as it began: the limits were checked for its first call. */
  begunStep: AgentStep | undefined;
  /** The ids of the system clock are new, so the loop does not search for duplicates. */
  private readonly hasNewIds: boolean;
  /** The execution of the last event: a hook can remove the execution from the state. */
  private executionId: ExecutionId | undefined;

  constructor(state: AgentState, loop: LoopParts, run: RunParts) {
    this.state = state;
    this.loop = loop;
    this.signals = new RunSignals(run.signal, run.checkpoint !== undefined);
    this.checkpointer = new Checkpointer(state, run.checkpoint);
    this.listeners = run.listeners;
    this.parent = run.parent;
    this.runContext = run.runContext;
    this.session = run.session;
    this.awaitReader = run.awaitReader;
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

  /** Applies the change of a hook, which lifts no stop. */
  changeByHook(state: AgentState): void {
    this.change(withStopKept(this.state, state));
  }

  /** Applies the change that a hook made to `base`, and keeps the progress and usage that tools reported meanwhile. */
  changeFrom(base: AgentState, changed: AgentState): void {
    this.changeByHook(rebaseToolChanges(this.state, base, changed, this.now()));
  }

  /**
   * Applies the change that a hook made before a call of a model. When the hook used tokens, the limits are checked
   * again, unless the step is already stopped. Returns a promise only when a guard does.
   */
  changeBeforeCall(state: AgentState): Promise<unknown> | undefined {
    const before = this.state.execution?.otherUsage;
    this.changeByHook(state);
    if (this.state.execution?.otherUsage === before || !this.mayCall()) return undefined;
    const asked = this.enforceLimits();
    return asked instanceof Promise ? asked : undefined;
  }

  /** True when the open step still needs a call of a model. */
  private mayCall(): boolean {
    if (!this.mayBegin()) return false;
    const { type } = nextAction(this.state);
    return type === 'beginStep' || type === 'infer';
  }

  private async checkLimits(base: AgentState, changed: AgentState): Promise<StopSignal | undefined> {
    const state = rebaseToolChanges(this.state, base, changed, this.now());
    return this.loop.hooks.checkLimits(state, this.context);
  }

  /**
   * Stops the execution by the first limit that is used up, and returns true if there is one. Returns a promise only
   * when a guard does.
   */
  enforceLimits(): boolean | Promise<boolean> {
    const found = this.loop.hooks.checkLimits(this.state, this.context);
    if (found instanceof Promise) return this.inTime(found).then((signal) => this.raiseOnce(signal));
    return this.raiseOnce(found);
  }

  // Hooks

  /**
   * Calls a hook. Returns a promise only when the hook does. The promise resolves to `undefined` when the hook does not
   * settle within its grace after an abort.
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
    // Between steps, no timer aborts the signal.
    const until = this.signals.isArmed ? undefined : this.loop.hooks.stepDeadline(this.context)?.at;
    const { signal } = this;
    return withinGrace(promise, { signal, until, clock: this.loop.clock, onTimeout: () => this.giveUp() });
  }

  /** Records the abort after a hook exceeded its grace, unless the execution is terminal. */
  private giveUp(): undefined {
    if (!this.state.execution?.isTerminal) this.checkAbort();
  }

  /** The number of stop signals. */
  get signalCount(): number {
    return this.state.execution?.continuation.signals.length ?? 0;
  }

  /** Withdraws the request for another step. */
  withdrawRequest(): void {
    this.change(this.state.withoutContinuationRequested(this.now()));
  }

  raise(signal: StopSignal): void {
    this.change(withStop(this.state, signal, this.now()));
  }

  /** Announces several changes as one. */
  async asOneChange(work: () => Promise<void>): Promise<void> {
    const before = this.state;
    this.isBatching = true;
    await work();
    this.isBatching = false;
    if (this.isAbandoned()) return;
    this.announce(before, this.state);
  }

  emit(happening: EventBody): void {
    const { listeners, state, loop } = this;
    if (listeners.length === 0) return;
    const executionId = (this.executionId = state.executionId ?? this.executionId);
    if (executionId === undefined) return;
    const frame = { at: this.now(), state, executionId, session: this.session?.() };
    announceTo(listeners, withToolsOfLoop(eventOf(happening, frame), loop.tools));
  }

  /** Announces the events between two states. */
  announce(before: AgentState, after: AgentState): void {
    if (this.listeners.length === 0 || this.isBatching || before === after) return;
    for (const happening of eventsBetween(before, after)) this.emit(happening);
  }

  // Errors

  /**
   * Records a thrown value in the state: an `AgentStop` as a stop signal, any other value as an error. Then calls
   * OnError hooks for an error.
   */
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
        if (state) this.changeByHook(state);
      } catch (secondError) {
        if (isAgentStop(secondError)) this.raise(secondError.signal);
        else this.change(this.state.withError(secondError, this.now()));
      }
    }
  }

  // Aborts

  /** Aborts when the run is aborted, and at the step deadline. */
  get signal(): AbortSignal {
    return this.signals.current;
  }

  /** Sets the deadline of the step that begins. */
  arm(): void {
    if (!this.loop.hooks.hasDeadlines) return;
    const deadline = this.loop.hooks.stepDeadline(this.context);
    if (deadline) this.signals.arm(deadline, this.loop.clock);
  }

  /** Ends the step's deadline. When the deadline passed after the final response had arrived, the response stays. */
  release(): void {
    const stop = this.signals.release();
    if (stop && !this.state.currentStep?.isFinalResponse) this.raiseOnce(stop);
  }

  /** True when work that costs time or money may start. Records an abort, and a step deadline that has passed. */
  mayBegin(): boolean {
    this.signals.checkTimer();
    return this.checkAbort() === undefined;
  }

  /** Records a cancel, so that hooks see it. */
  recordCancel(): void {
    if (abortKind(this.signals.runSignal) === 'cancel') this.checkAbort();
  }

  /** Takes an execution that a hook set back to `pending` to its end, if it was stopped. Returns false for any other. */
  resumeStopped(): boolean {
    this.recordCancel();
    const isStopped = this.state.execution?.continuation.isStopped ?? false;
    if (isStopped) this.change(this.state.withExecutionStatus('inProgress', this.now()));
    return isStopped;
  }

  /** Records an abort, once. A cancel becomes a stop signal; after any other abort the state does not change. */
  checkAbort(): AbortKind | undefined {
    const abort = this.signals.readAbort();
    this.raiseOnce(abort?.stop);
    return abort?.kind;
  }

  private raiseOnce(signal: StopSignal | undefined): boolean {
    if (signal) this.change(withStopOnce(this.state, signal, this.now()));
    return signal !== undefined;
  }

  /** True when another worker has the execution; from then on the state does not change. */
  isAbandoned(): boolean {
    return this.signals.isAbandoned();
  }

  /** True when the open step must stay open for another process. */
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
      runContext: this.runContext,
      checkLimits: (changed) => this.checkLimits(state, changed),
    };
  }

  now(): Instant {
    return readClock(this.loop.clock);
  }

  /** Adds the seconds worked since the last count. */
  countWork(): void {
    const at = this.now();
    const seconds = this.work.count(at);
    if (!this.isAbandoned()) this.state = this.state.withTimeWorked(seconds, at);
  }

  /** The seconds worked in this execution until now. */
  get workedSeconds(): number {
    return (this.state.execution?.workedSeconds ?? 0) + this.work.secondsAt(this.now());
  }
}
