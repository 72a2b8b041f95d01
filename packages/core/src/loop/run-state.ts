import type { Clock, Instant } from '../clock.ts';
import { callAfter } from '../clock.ts';
import type { AgentState } from '../state/agent-state.ts';
import type { BudgetLimits } from '../state/budget.ts';
import type { StopSignal } from '../state/continuation.ts';
import { isAgentStop, stopSignal } from '../state/continuation.ts';
import { ExecutionId, StepId, ToolExecutionId } from '../state/ids.ts';
import { abortKind, abortMessage, NEVER, RunAbort } from './abort.ts';
import type { AbortKind } from './abort.ts';
import type { MessageCompiler } from './compile-messages.ts';
import type { Driver, ToolChoice } from './driver.ts';
import type { AgentEventListener, Happening } from './events.ts';
import { announceTo, happeningsBetween } from './events.ts';
import type { HookContext } from './hook.ts';
import type { HookChain } from './hook-chain.ts';
import type { Outcome } from './stepper.ts';
import { apply } from './stepper.ts';
import type { Tool } from './tool.ts';

/** What a loop is made of; see `AgentLoopOptions`. */
export interface LoopParts {
  readonly driver: Driver;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly toolList: readonly Tool[];
  readonly toolChoice: ToolChoice;
  readonly hooks: HookChain;
  readonly compile: MessageCompiler;
  readonly toolErrors: 'continue' | 'fail';
  readonly maxParallelTools: number;
  readonly maxResultLength: number;
  readonly budget: BudgetLimits;
  readonly clock: Clock;
}

/** What is given to one run. */
export interface RunParts {
  readonly signal: AbortSignal;
  readonly listeners: readonly AgentEventListener[];
}

/**
 * The state of one run in progress: the only variable there is. Whatever changes it goes through `change`, which
 * tells the listeners; whatever a hook, tool or driver threw ends up in it.
 */
export class RunState {
  state: AgentState;
  readonly loop: LoopParts;
  readonly listeners: readonly AgentEventListener[];
  /** The caller's. */
  private readonly runSignal: AbortSignal;
  /** The present step's, when it may be cut off. */
  private stepSignal: AbortSignal | undefined;
  /** Why the present step was cut off. */
  private cut: StopSignal | undefined;
  private disarm: (() => void) | undefined;
  /** Set when the run is to be left as it is: another process goes on with it. */
  private left: AbortKind | undefined;
  /** While the end is prepared: it is announced as one change. */
  private isQuiet = false;

  constructor(state: AgentState, loop: LoopParts, run: RunParts) {
    this.state = state;
    this.loop = loop;
    this.runSignal = run.signal;
    this.listeners = run.listeners;
  }

  advance(outcome: Outcome): void {
    this.change(apply(this.state, outcome));
  }

  change(state: AgentState): void {
    const before = this.state;
    this.state = state;
    this.announce(before, state);
  }

  raise(signal: StopSignal): void {
    this.change(this.state.withStopSignal(signal, this.now()));
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
    if (this.stepSignal === undefined) return heldSignal;
    return heldSignal === NEVER ? this.stepSignal : AbortSignal.any([heldSignal, this.cutting.signal]);
  }

  private cutting = new AbortController();

  /** Sees to it that the step that begins is cut off in time. */
  arm(): void {
    const cutOff = this.loop.hooks.cutOff(this.context);
    if (cutOff === undefined) return;
    this.cutting = new AbortController();
    const { signal } = this.cutting;
    this.stepSignal = this.runSignal === NEVER ? signal : AbortSignal.any([this.runSignal, signal]);
    this.disarm = callAfter(this.loop.clock, cutOff.at - this.now(), () => {
      this.cut = cutOff.signal;
      this.cutting.abort(new RunAbort('cancel', cutOff.signal.message));
    });
  }

  /** The step is over. */
  release(): void {
    if (this.cut && !this.isLost()) this.raiseOnce(this.cut);
    this.cut = undefined;
    this.disarm?.();
    this.disarm = undefined;
    this.stepSignal = undefined;
  }

  /** Takes note of an abort, once. A cancel becomes a stop signal; otherwise the run is left as it is. */
  checkAbort(): AbortKind | undefined {
    if (!this.signal.aborted) return undefined;
    const kind = this.runSignal.aborted ? abortKind(this.runSignal) : 'cancel';
    if (kind === 'cancel') this.raiseOnce(this.runSignal.aborted ? aborted(this.runSignal) : this.cut);
    else if (kind !== undefined) this.left = kind;
    return kind;
  }

  private raiseOnce(signal: StopSignal | undefined): void {
    const signals = this.state.execution?.continuation.signals ?? [];
    const isNoted = signals.some(
      ({ source, reason }) => source === signal?.source && reason === signal?.reason,
    );
    if (signal && !isNoted) this.raise(signal);
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
    return { state: this.state, signal: this.signal, clock: this.loop.clock };
  }

  now(): Instant {
    return this.loop.clock.now();
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
