import type { Instant } from '../clock.ts';
import { secondsBetween } from '../clock.ts';
import type { AgentState } from '../state/agent-state.ts';
import type { StopSignal } from '../state/continuation.ts';
import { isAgentStop, stopSignal } from '../state/continuation.ts';
import { ExecutionId, StepId, ToolExecutionId } from '../state/ids.ts';
import { abortKind, abortMessage, NEVER } from './abort.ts';
import type { AbortKind } from './abort.ts';
import { CutOffTimer, stoppedBy } from './cut-off.ts';
import type { AgentEventListener, Happening } from './events.ts';
import { announceTo, happeningsBetween } from './events.ts';
import type { HookContext } from './hook.ts';
import type { LoopParts, RunParts } from './loop-parts.ts';
import type { ParentRun } from './parent-run.ts';
import type { Outcome } from './stepper.ts';
import { apply } from './stepper.ts';

/**
 * The state of one run in progress: the only variable there is. Whatever changes it goes through `change`, which
 * tells the listeners; whatever a hook, tool or driver threw ends up in it.
 */
export class RunState {
  state: AgentState;
  readonly loop: LoopParts;
  readonly listeners: readonly AgentEventListener[];
  readonly parent: ParentRun | undefined;
  /** The caller's. */
  private readonly runSignal: AbortSignal;
  /** Cuts the present step off, when a hook wants that. */
  private timer: CutOffTimer | undefined;
  /** Aborts when the run does and when the timer goes off. */
  private stepSignal: AbortSignal | undefined;
  /** Set when the run is to be left as it is: another process goes on with it. */
  private left: AbortKind | undefined;
  /** While the end is prepared: it is announced as one change. */
  private isQuiet = false;
  /** Since when work was not yet counted. */
  private workingSince: Instant;

  constructor(state: AgentState, loop: LoopParts, run: RunParts) {
    this.state = state;
    this.loop = loop;
    this.runSignal = run.signal;
    this.listeners = run.listeners;
    this.parent = run.parent;
    this.workingSince = this.now();
  }

  advance(outcome: Outcome): void {
    this.change(apply(this.state, outcome));
  }

  change(state: AgentState): void {
    const before = this.state;
    this.state = state;
    this.parent?.follow(state);
    this.announce(before, state);
  }

  /**
   * Takes in what a hook made of `base`. What tools have said in the meantime, of progress and usage, stays. Nothing is
   * taken in once the run is lost.
   */
  changeFrom(base: AgentState, changed: AgentState): void {
    if (!this.isLost()) this.change(this.merged(base, changed));
  }

  private merged(base: AgentState, changed: AgentState): AgentState {
    if (this.state === base) return changed;
    let state = changed;
    for (const toolExecution of this.state.currentStep?.toolExecutions ?? []) {
      const { id } = toolExecution;
      const was = base.currentStep?.toolExecutions.find((execution) => execution.id === id);
      const isHooks = changed.currentStep?.toolExecutions.find((execution) => execution.id === id) !== was;
      if (toolExecution !== was && !isHooks)
        state = apply(state, { type: 'toolAdvanced', toolExecution, at: this.now() });
    }
    return state;
  }

  /**
   * Takes in what a hook made before a call to a model. A promise when it used something: that the limits are asked
   * again.
   */
  changeBeforeCall(state: AgentState): Promise<void> | undefined {
    const before = this.state.execution?.otherUsage;
    this.change(state);
    return this.state.execution?.otherUsage === before ? undefined : this.askLimits();
  }

  private async askLimits(): Promise<void> {
    this.stopBy(await this.context.limitReached(this.state));
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
  async quietly(work: () => Promise<void>): Promise<void> {
    const before = this.state;
    this.isQuiet = true;
    await work();
    this.isQuiet = false;
    this.announce(before, this.state);
  }

  emit(happening: Happening): void {
    const { listeners } = this;
    if (listeners.length > 0) announceTo(listeners, { ...happening, at: this.now(), state: this.state });
  }

  private announce(before: AgentState, after: AgentState): void {
    if (this.listeners.length === 0 || this.isQuiet || before === after) return;
    for (const happening of happeningsBetween(before, after)) this.emit(happening);
  }

  // What was thrown

  /** Puts what was thrown into the state: a stop as a signal, all else as an error, of which OnError is told. */
  async take(thrown: unknown): Promise<void> {
    if (this.isLost()) return;
    const isOver = this.state.execution?.isTerminal;
    if (isAgentStop(thrown)) {
      this.raise(thrown.signal);
      if (isOver) this.advance({ type: 'finished', at: this.now() });
      return;
    }
    if (isOver) this.change(this.state.withFailure(thrown, this.now()));
    else this.advance({ type: 'failed', error: thrown, at: this.now() });
    for (const hook of this.loop.hooks.at('onError')) {
      try {
        const state = await this.loop.hooks.call(hook, 'onError', thrown, this.context);
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
    return this.stepSignal ?? this.runSignal;
  }

  /** The same for tools: a run that yields lets them end. */
  toolSignal(heldSignal: AbortSignal): AbortSignal {
    if (this.timer === undefined) return heldSignal;
    const { signal } = this.timer;
    return heldSignal === NEVER ? signal : AbortSignal.any([heldSignal, signal]);
  }

  /** Sees to it that the step that begins is cut off in time. */
  arm(): void {
    const cutOff = this.loop.hooks.cutOff(this.context);
    if (cutOff === undefined) return;
    this.timer = new CutOffTimer(cutOff, this.loop.clock);
    const { signal } = this.timer;
    this.stepSignal = this.runSignal === NEVER ? signal : AbortSignal.any([this.runSignal, signal]);
  }

  /** The step is over. When it was cut off after its answer had arrived in full, that stays an answer. */
  release(): void {
    const { timer } = this;
    if (timer === undefined) return;
    timer.disarm();
    this.timer = this.stepSignal = undefined;
    if (!timer.signal.aborted || this.isLost() || abortKind(this.runSignal) === 'cancel') return;
    if (!this.state.currentStep?.isAnswer) this.stopBy(timer.stop);
  }

  /** May something be begun that costs time or money? Takes note of an abort, and of a cut-off that is due. */
  mayBegin(): boolean {
    this.timer?.check();
    return this.checkAbort() === undefined;
  }

  /** Takes note of an abort, once. A cancel becomes a stop signal; otherwise the run is left as it is. */
  checkAbort(): AbortKind | undefined {
    if (!this.signal.aborted) return undefined;
    const kind = abortKind(this.runSignal);
    if (kind === undefined) this.stopBy(this.timer?.stop);
    else if (kind === 'cancel') this.stopBy(aborted(this.runSignal));
    else this.left = kind;
    return kind ?? 'cancel';
  }

  private stopBy(signal: StopSignal | undefined): void {
    if (signal) this.change(stoppedBy(this.state, signal, this.now()));
  }

  /** Another process has the execution: from here on nothing is changed. */
  isLost(): boolean {
    if (this.runSignal.aborted && abortKind(this.runSignal) === 'lost') this.left = 'lost';
    return this.left === 'lost';
  }

  /** Is the step in progress to be left open, for another process? */
  hasLeft(): boolean {
    return this.isLost() || this.left !== undefined;
  }

  // Time and identity

  get context(): HookContext {
    const { state } = this;
    return {
      state,
      signal: this.signal,
      clock: this.loop.clock,
      limitReached: (changed) => this.loop.hooks.limitReached(this.merged(state, changed), this.context),
    };
  }

  now(): Instant {
    return this.loop.clock.now();
  }

  /** Work begins: what was before does not count. */
  beginWork(): void {
    this.workingSince = this.now();
  }

  /** The seconds worked since they were counted last; they count as counted. */
  workSinceLastCount(): number {
    const seconds = this.uncountedSeconds;
    this.beginWork();
    return seconds;
  }

  /** Seconds worked in this execution, up to now. */
  get workedSeconds(): number {
    return (this.state.execution?.workedSeconds ?? 0) + this.uncountedSeconds;
  }

  private get uncountedSeconds(): number {
    return Math.max(0, secondsBetween(this.workingSince, this.now()));
  }

  newExecutionId(): ExecutionId {
    return ExecutionId.create(this.loop.clock);
  }

  newStepId(): StepId {
    return StepId.create(this.loop.clock);
  }

  newToolExecutionId(): ToolExecutionId {
    return ToolExecutionId.create(this.loop.clock);
  }
}

function aborted(signal: AbortSignal): StopSignal {
  return stopSignal({ reason: 'userRequested', message: abortMessage(signal), source: 'abort' });
}
