import { readClock, secondsBetween, systemClock, type Instant } from '../../clock.ts';
import type { AgentState } from '../../state/agent-state.ts';
import type { StopSignal } from '../../state/execution/continuation.ts';
import type { ExecutionState } from '../../state/execution/execution.ts';
import type { AgentStep } from '../../state/execution/step.ts';
import type { ToolExecution } from '../../state/tools/tool-execution.ts';
import type { Messages } from '../../state/messages/messages.ts';
import type { ExecutionId, StepId } from '../../state/values/ids.ts';
import { announceTo, eventOf, eventsBetween, withToolsOfLoop, type EventBody } from '../steps/events.ts';
import {
  applyChecked,
  rebaseToolChanges,
  stepAfter,
  withTools,
  type StepperOutcome,
} from '../steps/stepper.ts';
import type { AbortKind } from '../stopping/abort.ts';
import { withStop, withStopKept, withStopOnce } from '../stopping/final-stop.ts';
import { RunSignals } from '../stopping/run-signals.ts';
import { WorkClock } from '../stopping/work-clock.ts';
import { Checkpointer } from './checkpointer.ts';
import type { InferenceRun } from './infer.ts';
import type { LoopParts, RunParts } from './loop-parts.ts';
import { RunHooks } from './run-hooks.ts';
import type { ToolRun } from './running-tool.ts';

/**
 * The state of one run in progress, its only variable. Every change goes through `change`, which notifies the listeners
 * and does nothing once the run is lost. Errors of hooks, tools and drivers are recorded in the state.
 */
export class RunState implements InferenceRun, ToolRun {
  readonly loop: LoopParts;
  readonly given: RunParts;
  readonly signals: RunSignals;
  readonly clock: WorkClock;
  readonly hooks: RunHooks;
  readonly checkpointer: Checkpointer;
  /** The number of changes so far. */
  changeCount = 0;
  /** The state as it was built last. */
  private built: AgentState;
  /** The open step, if it was changed since. */
  private changedStep: AgentStep | undefined;
  private changedAt: Instant = 0;
  /** The step that this run began last, as it began. */
  private begunStep: AgentStep | undefined;
  private countedUntil: Instant;
  /** The sleep that was left out so far. */
  private countedSleep = 0;
  /** True while the end is prepared, which is announced as one change. */
  private isBatching = false;
  /** The ids of the system clock are new, so the loop does not search for duplicates. */
  private readonly hasNewIds: boolean;
  /** The execution of the last event: a hook can remove the execution from the state. */
  private executionId: ExecutionId | undefined;

  constructor(state: AgentState, loop: LoopParts, given: RunParts) {
    this.built = state;
    this.loop = loop;
    this.given = given;
    this.signals = new RunSignals(given.signal, given.checkpoint !== undefined);
    this.clock = new WorkClock(loop.clock);
    this.hooks = new RunHooks(this);
    this.checkpointer = new Checkpointer(this, given.checkpoint);
    this.countedUntil = readClock(loop.clock);
    this.hasNewIds = loop.clock === systemClock;
  }

  /** The present state. After a change of the open step alone, the first reader builds it. */
  get state(): AgentState {
    const { changedStep } = this;
    if (changedStep === undefined) return this.built;
    this.changedStep = undefined;
    return (this.built = this.built.withNewStep(changedStep, this.changedAt));
  }

  /** The execution of the present state, except that it may have an earlier version of the open step. */
  get execution(): ExecutionState | undefined {
    return this.built.execution;
  }

  /** The open step of the present state. */
  get currentStep(): AgentStep | undefined {
    return this.changedStep ?? this.built.currentStep;
  }

  // Changes

  advance(outcome: StepperOutcome): void {
    const step = this.currentStep && stepAfter(this.currentStep, outcome);
    if (step === undefined) this.change(applyChecked(this.state, outcome, this.hasNewIds));
    else this.changeStep(step, outcome.at);
  }

  beginStep(stepId: StepId, input: Messages, at: Instant): void {
    this.advance({ type: 'stepBegun', stepId, input, at });
    this.begunStep = this.currentStep;
  }

  get isFirstCall(): boolean {
    return this.currentStep === this.begunStep;
  }

  record(toolExecutions: readonly ToolExecution[], at: Instant): void {
    const { currentStep } = this;
    if (currentStep === undefined || !this.hasNewIds)
      this.change(withTools(this.state, toolExecutions, at, this.hasNewIds));
    else this.changeStep(currentStep.withToolExecutions(toolExecutions), at);
  }

  private changeStep(step: AgentStep, at: Instant): void {
    if (this.signals.isAbandoned() || step === this.currentStep) return;
    const { listeners, parent } = this.given;
    if (listeners.length > 0 || parent) return this.change(this.state.withNewStep(step, at));
    this.changedAt = this.changedStep === undefined ? at : Math.max(at, this.changedAt);
    this.changedStep = step;
    this.changeCount++;
  }

  change(state: AgentState): void {
    if (this.signals.isAbandoned()) return;
    const before = this.state;
    this.built = state;
    if (state !== before) this.changeCount++;
    this.given.parent?.follow(state);
    this.announce(before, state);
  }

  /**
   * Applies the change that a hook made to `base`. It lifts no stop, and the progress and usage that tools reported
   * meanwhile stay.
   */
  changeByHook(changed: AgentState, base = this.state): void {
    const { state } = this;
    const rebased = base === state ? changed : rebaseToolChanges(state, base, changed, this.now());
    this.change(withStopKept(state, rebased));
  }

  // Events

  async asOneChange(work: () => Promise<void>): Promise<void> {
    const before = this.state;
    this.isBatching = true;
    try {
      await work();
    } finally {
      this.isBatching = false;
    }
    if (!this.signals.isAbandoned()) this.announce(before, this.state);
  }

  announce(before: AgentState, after: AgentState): void {
    if (this.given.listeners.length === 0 || this.isBatching || before === after) return;
    for (const happening of eventsBetween(before, after)) this.emit(happening);
  }

  emit(happening: EventBody): void {
    const { state, loop } = this;
    const { listeners, session } = this.given;
    if (listeners.length === 0) return;
    const executionId = (this.executionId = state.executionId ?? this.executionId);
    if (executionId === undefined) return;
    const frame = { at: this.now(), state, executionId, session: session?.() };
    announceTo(listeners, withToolsOfLoop(eventOf(happening, frame), loop.tools));
  }

  // Stops

  raise(signal: StopSignal): void {
    this.change(withStop(this.state, signal, this.now()));
  }

  /** Raises a signal unless the state has it already. Returns true for a signal. */
  raiseOnce(signal: StopSignal | undefined): boolean {
    if (signal) this.change(withStopOnce(this.state, signal, this.now()));
    return signal !== undefined;
  }

  /** True when work that costs time or money may start. Records an abort, and a step deadline that has passed. */
  mayBegin(): boolean {
    this.signals.checkTimer();
    return this.checkAbort() === undefined;
  }

  /** Records an abort, once. A cancel becomes a stop signal; after any other abort the state does not change. */
  checkAbort(): AbortKind | undefined {
    const abort = this.signals.readAbort();
    this.raiseOnce(abort?.stop);
    return abort?.kind;
  }

  /** Ends the step's deadline. When the deadline passed after the final response had arrived, the response stays. */
  release(): void {
    const stop = this.signals.release();
    if (stop && !this.state.currentStep?.isFinalResponse) this.raiseOnce(stop);
  }

  // Time

  now(): Instant {
    return readClock(this.loop.clock);
  }

  /** The start of the work that the state does not count yet. */
  get workSince(): Instant {
    return this.countedUntil;
  }

  /** Counts from now on, and leaves out the time since the last count. */
  restartCount(): void {
    this.countedUntil = this.now();
    this.countedSleep = this.clock.noticedSleep;
  }

  /** Returns the seconds worked since the last count. */
  countSeconds(at: Instant): number {
    const seconds = this.secondsAt(at);
    this.countedUntil = at;
    this.countedSleep = this.clock.noticedSleep;
    return seconds;
  }

  /** Adds the seconds worked since the last count to the state. */
  countWork(): void {
    const at = this.now();
    this.change(this.state.withTimeWorked(this.countSeconds(at), at));
  }

  get workedSeconds(): number {
    return (this.state.execution?.workedSeconds ?? 0) + this.secondsAt(this.now());
  }

  private secondsAt(now: Instant): number {
    const sleptMs = this.clock.slept() - this.countedSleep;
    return Math.max(0, secondsBetween(this.countedUntil + sleptMs, now));
  }
}
