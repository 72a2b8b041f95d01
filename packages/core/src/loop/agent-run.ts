import type { AgentState } from '../state/agent-state.ts';
import { ExecutionId, StepId } from '../state/ids.ts';
import { newStepMessageIds } from '../state/step.ts';
import { holdOnYield } from './abort.ts';
import type { HeldSignal } from './abort.ts';
import type { Hook } from './hook.ts';
import type { StatePoint } from './hook-chain.ts';
import { leftRunning } from './left-tools.ts';
import type { LoopParts, RunParts } from './loop-parts.ts';
import { ModelCall } from './model-call.ts';
import { RunState } from './run-state.ts';
import { next } from './stepper.ts';
import { ToolRound } from './tool-round.ts';
import { waitingIn, withTimePassed } from './waiting.ts';

/**
 * One run in progress: the interpreter of the stepper. Every error of a driver, tool or hook ends up in the state; only
 * `result()` throws, when a state could not be kept.
 */
export class AgentRun {
  private readonly run: RunState;
  private readonly loop: LoopParts;
  private readonly toolSignal: HeldSignal;
  /** The state as the caller passed it. A closure over it in a field would make V8 promote the whole finished run. */
  private readonly given: AgentState;
  /** An earlier form of it: what has happened since is announced. */
  private readonly since: AgentState;

  constructor(state: AgentState, loop: LoopParts, parts: RunParts) {
    this.run = new RunState(state, loop, parts);
    this.loop = loop;
    this.given = state;
    this.since = parts.since ?? state;
    this.toolSignal = holdOnYield(this.run.signals.runSignal);
  }

  get state(): AgentState {
    return this.run.state;
  }

  /** Tells what has happened to the state since it was run last. */
  private announceEarlier(): void {
    this.run.announce(this.since, this.given);
  }

  /**
   * BeforeExecution. Takes up what there is: a new execution, or one that was left unfinished. False when there is
   * nothing to take up: it waits, or is another's.
   */
  async begin(): Promise<boolean> {
    const { run } = this;
    if (run.isLost()) return false;
    if (run.state.status === 'suspended') run.change(withTimePassed(run.state, run.now()));
    const { status } = run.state;
    if (status === 'suspended') {
      this.announceEarlier();
      return false;
    }
    run.advance({ type: 'started', executionId: ExecutionId.create(run.loop.clock), at: run.now() });
    run.emit({ type: status === 'inProgress' ? 'execution-resumed' : 'execution-started' });
    this.announceEarlier();
    try {
      await this.callHooks('beforeExecution');
    } catch (error) {
      await run.take(error);
    }
    const action = next(run.state);
    if (action.type === 'resolveTools') {
      await this.toolRound().resolve(action.toolExecutions);
    }
    run.countWork();
    return true;
  }

  /** One step: BeforeStep, inference, tools, AfterStep. False when there is no step to take. */
  async step(): Promise<boolean> {
    const { run } = this;
    const stepsBefore = run.state.stepExecutions.length;
    run.work.begin();
    try {
      run.arm();
      await this.work();
    } catch (error) {
      await run.take(error);
    }
    run.release();
    if (run.state.currentStep && !run.hasLeft()) await this.endStep();
    return run.state.stepExecutions.length > stepsBefore;
  }

  private async work(): Promise<void> {
    const { run } = this;
    if (next(run.state).type === 'beginStep' && run.kept.hasNewStep(run.state))
      await run.kept.keep(run, 'step');
    if (next(run.state).type === 'beginStep' && !run.checkAbort()) {
      const { signalCount } = run;
      const hooks = this.callHooks('beforeStep');
      if (hooks) await hooks;
      if (run.signalCount > signalCount) run.withdrawRequest();
      if (next(run.state).type === 'beginStep' && run.mayBegin()) this.openStep();
    }
    if (next(run.state).type === 'infer' && run.mayBegin()) await new ModelCall(run).carryOut();
    const action = next(run.state);
    if (action.type === 'runTools' && !(await this.toolRound().carryOut(action.calls))) return;
    if (action.type === 'resolveTools') {
      const calls = run.state.currentStep?.callsToRun ?? [];
      if (!(await this.toolRound().carryOut(calls, action.toolExecutions))) return;
    }
    if (next(run.state).type !== 'closeStep' || run.hasLeft() || !this.loop.hooks.has('afterStep')) return;
    await run.kept.keep(run, 'outcome');
    await this.callHooks('afterStep');
  }

  /** OnStop for forced stops, then AfterExecution; gives the execution its terminal status. */
  async finish(): Promise<void> {
    const { run } = this;
    if (run.isLost()) return;
    const isOver = next(run.state).type === 'none';
    if (!isOver && !this.isEnding()) return run.countWork();
    if (this.loop.hooks.has('onStop') || this.loop.hooks.has('afterExecution'))
      await run.kept.keep(run, 'step');
    if (!isOver && run.state.execution?.continuation.wasForceStopped) await this.callEach('onStop');
    if (run.isLost()) return;
    run.countWork();
    if (run.hasLeft()) return;
    await run.quietly(async () => {
      if (!isOver) run.advance({ type: 'finished', at: run.now() });
      await this.callEach('afterExecution');
    });
  }

  private isEnding(): boolean {
    return !this.run.hasLeft() && next(this.run.state).type === 'finish';
  }

  /** Lets go of the caller's signal. */
  dispose(): void {
    this.toolSignal.release();
  }

  /** The state to go on with. @throws what a checkpoint has thrown. */
  result(): AgentState {
    const { failure } = this.run.kept;
    if (failure) throw failure.error as Error;
    return this.state;
  }

  // Steps

  private openStep(): void {
    const { run, loop } = this;
    const [stepId, input] = [StepId.create(loop.clock), loop.compile(run.state)];
    run.advance({ type: 'stepBegun', stepId, input, at: run.now() });
  }

  /** Closes the step, or suspends the execution when all that it lacks are decisions. */
  private async endStep(): Promise<void> {
    const { run } = this;
    const action = next(run.state);
    if (action.type !== 'wait') {
      const waiting = run.state.currentStep?.toolExecutions.filter(
        ({ waitingInside }) => waitingInside.length > 0,
      );
      if (waiting && waiting.length > 0) await this.toolRound().closeInterrupted(waiting);
      return this.closeStep();
    }
    const step = run.state.currentStep;
    if (run.state.status === 'suspended' || step === undefined) return;
    run.advance({ type: 'suspended', waiting: waitingIn(step, this.loop.tools), at: run.now() });
  }

  private closeStep(): void {
    const { run } = this;
    for (const outcome of leftRunning(run.state, () => run.now())) run.advance(outcome);
    const workedSeconds = run.work.count();
    const messageIds = newStepMessageIds(this.loop.clock);
    run.advance({ type: 'stepClosed', messageIds, workedSeconds, at: run.now() });
  }

  private toolRound(): ToolRound {
    return new ToolRound(this.run, this.run.signals.forTools(this.toolSignal.signal));
  }

  // Hooks and time

  /** The hooks of a point, each of them whatever the one before threw. */
  private async callEach(point: StatePoint): Promise<void> {
    for (const hook of this.loop.hooks.at(point)) {
      if (this.run.isLost()) return;
      try {
        const state = await this.run.callHook(hook, point, this.run.state);
        if (state) this.run.change(state);
      } catch (error) {
        await this.run.take(error);
      }
    }
  }

  /** The hooks of a point, one after the other. A promise only when one of them returned one. */
  private callHooks(point: StatePoint, from = 0): Promise<void> | undefined {
    const hooks = this.loop.hooks.at(point);
    for (let index = from; index < hooks.length; index++) {
      const result = this.run.callHook(hooks[index] as Hook, point, this.run.state);
      if (result instanceof Promise) return this.callRest(point, index, result);
      const asked = result && this.take(point, result);
      if (asked) return asked.then(() => this.callHooks(point, index + 1));
    }
    return undefined;
  }

  private async callRest(
    point: StatePoint,
    index: number,
    result: Promise<AgentState | undefined>,
  ): Promise<void> {
    const state = await result;
    const asked = state && this.take(point, state);
    if (asked) await asked;
    return this.run.isLost() ? undefined : this.callHooks(point, index + 1);
  }

  private take(point: StatePoint, state: AgentState): Promise<void> | undefined {
    if (point === 'beforeStep') return this.run.changeBeforeCall(state);
    this.run.change(state);
    return undefined;
  }
}
