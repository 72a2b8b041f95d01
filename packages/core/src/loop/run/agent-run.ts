import type { Instant } from '../../clock.ts';
import type { AgentState } from '../../state/agent-state.ts';
import { NOTHING, some } from '../../state/values/frozen-array.ts';
import { ExecutionId, StepId } from '../../state/values/ids.ts';
import type { ToolCallPart } from '../../state/messages/messages.ts';
import { newStepMessageIds } from '../../state/execution/step-output.ts';
import type { ToolExecution } from '../../state/tools/tool-execution.ts';
import { abortKind, holdOnYield, type HeldSignal } from '../stopping/abort.ts';
import type { LoopParts, RunParts } from './loop-parts.ts';
import { infer, waitForRetry } from './infer.ts';
import { RunState } from './run-state.ts';
import { nextActionOf, type NextAction } from '../steps/stepper.ts';
import { ToolRound } from './tool-round.ts';
import { waitingOfStep, withTimeoutsApplied } from '../tools/waiting.ts';

/** The actions that do the work of a step; the others begin, suspend or end the execution. */
type StepAction = Exclude<NextAction, { readonly type: 'start' | 'wait' | 'finish' | 'none' }>;

/**
 * One run in progress. It performs the actions that the stepper returns, until the stepper returns `none`, in this order:
 * BeforeExecution → [ BeforeStep → inference → tools → AfterStep → stop? ]… → OnStop → AfterExecution.
 *
 * Errors of drivers, tools and hooks are recorded in the state. Only `result()` throws, after a failed checkpoint.
 */
export class AgentRun {
  private readonly run: RunState;
  private readonly loop: LoopParts;
  private readonly toolSignal: HeldSignal;
  /** The state as the caller passed it. A closure over it in a field would make V8 promote the whole finished run. */
  private readonly initialState: AgentState;
  /** An earlier version of the state; the run announces the changes since then. */
  private readonly since: AgentState;
  private hasStarted = false;
  /** True from the start of a step's work; from then on the step deadline applies. */
  private isInStep = false;
  /** True while the open step has calls in doubt, which an earlier process started. */
  private hasCallsInDoubt = false;

  constructor(state: AgentState, loop: LoopParts, parts: RunParts) {
    this.run = new RunState(state, loop, parts);
    this.loop = loop;
    this.initialState = state;
    this.since = parts.previousState ?? state;
    this.toolSignal = holdOnYield(this.run.signals.runSignal);
  }

  get state(): AgentState {
    return this.run.state;
  }

  /** Performs the next actions until a step is closed, or until the end. Returns false when there is no action left. */
  advance(until: 'step' | 'end'): Promise<boolean> {
    const { clock } = this.run;
    clock.start();
    return this.perform(until).finally(() => clock.stop());
  }

  private async perform(until: 'step' | 'end'): Promise<boolean> {
    const { run } = this;
    if (!this.hasStarted && !(await this.begin())) return false;
    while (!run.signals.isHandedOver()) {
      const { changeCount } = run;
      let isOver = false;
      try {
        const action = this.enterStep();
        switch (action.type) {
          case 'wait':
            if (await waitForRetry(run)) break;
            this.recordCancel();
            run.release();
            if (run.changeCount === changeCount) return this.suspend();
            isOver = true; // the run was cancelled, or the step deadline passed meanwhile
            break;
          case 'finish':
          case 'none':
            return await this.finish(action.type === 'none');
          case 'start': // a hook set the execution back to `pending`
            if (!this.resumeStopped()) return this.endRun();
            break;
          default: {
            const work = this.workOnStep(action);
            isOver = (typeof work === 'boolean' ? work : await work) === false;
          }
        }
      } catch (error) {
        await run.hooks.recordThrown(error);
        isOver = true;
      }
      const isStuck = run.changeCount === changeCount;
      if (!isOver && !isStuck) continue;
      run.release();
      if (this.mustCloseStep(isStuck)) {
        const pendingCalls = this.closeWaitingCalls();
        if (pendingCalls) await pendingCalls;
        this.closeStep();
        if (until === 'step') return true;
      } else if (run.changeCount === changeCount) break;
    }
    return this.endRun();
  }

  /** The last state of the run. @throws the error of a failed checkpoint. */
  result(): AgentState {
    const { failure } = this.run.checkpointer;
    if (failure) throw failure.error as Error;
    return this.state;
  }

  /** Removes the listener from the caller's signal. */
  dispose(): void {
    this.toolSignal.release();
  }

  // The beginning and the end

  /**
   * Calls BeforeExecution hooks and starts or resumes the execution. Returns false when the execution is suspended, or
   * when another worker has it.
   */
  private async begin(): Promise<boolean> {
    const { run } = this;
    this.hasStarted = true;
    if (run.signals.isAbandoned()) return false;
    if (run.state.status === 'suspended') run.change(withTimeoutsApplied(run.state, run.now()));
    const { status, execution } = run.state;
    if (status === 'suspended' && !execution?.continuation.isStopped) {
      this.announceEarlier();
      return false;
    }
    run.advance({ type: 'started', executionId: ExecutionId.create(run.loop.clock), at: run.now() });
    const isResumed = status === 'inProgress' || status === 'suspended';
    run.emit({ type: isResumed ? 'execution-resumed' : 'execution-started' });
    this.announceEarlier();
    try {
      await run.hooks.callAll('beforeExecution');
    } catch (error) {
      await run.hooks.recordThrown(error);
    }
    const action = nextActionOf(run);
    if (action.type === 'resolveTools') {
      this.hasCallsInDoubt = true;
      await this.toolRound([], action.toolExecutions).resolveInDoubt();
    }
    run.countWork();
    return true;
  }

  /** Announces the changes of the state since `previousState`. */
  private announceEarlier(): void {
    this.run.announce(this.since, this.initialState);
  }

  /** Calls OnStop hooks after a forced stop, sets the terminal status, and calls AfterExecution hooks. */
  private async finish(isOver: boolean): Promise<false> {
    const { run, loop } = this;
    run.release();
    if (loop.hooks.has('onStop') || loop.hooks.has('afterExecution')) await run.checkpointer.save('step');
    if (!isOver && run.state.execution?.continuation.wasForceStopped) await run.hooks.callEach('onStop');
    if (run.signals.isHandedOver()) return this.endRun();
    run.countWork();
    await run.asOneChange(async () => {
      if (!isOver) run.advance({ type: 'finished', at: run.now() });
      await run.hooks.callEach('afterExecution');
    });
    return false;
  }

  /**
   * Ends the run without ending the execution. A saved state is not changed: new work time would require another save.
   */
  private endRun(): false {
    const { run } = this;
    run.release();
    if (!run.checkpointer.isSaved) run.countWork();
    return false;
  }

  /** Takes an execution that a hook set back to `pending` to its end, if it was stopped. Returns false for any other. */
  private resumeStopped(): boolean {
    const { run } = this;
    this.recordCancel();
    const isStopped = run.state.execution?.continuation.isStopped ?? false;
    if (isStopped) run.change(run.state.withExecutionStatus('inProgress', run.now()));
    return isStopped;
  }

  /** Suspends the execution: the open step needs only decisions, time or a retry. */
  private suspend(): false {
    const { run } = this;
    const step = run.state.currentStep;
    if (run.state.status !== 'suspended' && step)
      run.advance({ type: 'suspended', waiting: waitingOfStep(step, this.loop.tools), at: run.now() });
    return this.endRun();
  }

  // Steps

  /** Returns the next action. Before the first action of a step, starts counting its time and sets its deadline. */
  private enterStep(): NextAction {
    const { run, loop } = this;
    if (!this.isInStep) {
      this.isInStep = true;
      run.restartCount();
      if (loop.hooks.has('stepDeadline')) run.signals.arm(run.hooks, run.clock);
    }
    return nextActionOf(run);
  }

  private get signalCount(): number {
    return this.run.state.execution?.continuation.signals.length ?? 0;
  }

  /**
   * Performs an action of a step. Returns a promise only when the action takes time. The result, or the promised
   * result, is `false` when the step needs no further action.
   */
  private workOnStep(action: StepAction): Promise<unknown> | boolean {
    const { run } = this;
    switch (action.type) {
      case 'beginStep':
        if (this.hasPreparations) return this.prepareStep();
        this.beginStep(run.workSince);
        return true;
      case 'infer':
        return run.mayBegin() ? infer(run) : true;
      case 'runTools':
        return this.toolRound(action.calls).runCalls();
      case 'resolveTools':
        return this.resumeTools(action.toolExecutions);
      case 'closeStep':
        return this.loop.hooks.has('afterStep') ? this.completeStep() : false;
    }
  }

  /** True when there is work before a step begins: limits, hooks or a save. */
  private get hasPreparations(): boolean {
    const { run, loop } = this;
    const { hooks } = loop;
    return hooks.has('checkLimit') || hooks.has('beforeStep') || run.checkpointer.hasUnsavedStep;
  }

  /**
   * Saves the step before, checks the limits, calls BeforeStep hooks, and begins the step unless the execution was stopped.
   * Returns a promise only when one of these takes time.
   */
  private prepareStep(): Promise<unknown> | boolean {
    const { checkpointer } = this.run;
    const pendingSave = checkpointer.hasUnsavedStep ? checkpointer.save('step') : undefined;
    return pendingSave ? pendingSave.then(() => this.checkLimits()) : this.checkLimits();
  }

  private checkLimits(): Promise<unknown> | boolean {
    const { run, signalCount } = this;
    if (nextActionOf(run).type !== 'beginStep' || run.checkAbort()) return true;
    const isStopped = run.hooks.enforceLimits();
    return typeof isStopped === 'boolean'
      ? this.callBeforeStep(isStopped, signalCount)
      : isStopped.then((is) => this.callBeforeStep(is, signalCount));
  }

  private callBeforeStep(isStopped: boolean, signalCount: number): Promise<unknown> | boolean {
    const { run } = this;
    const pendingHooks = run.signals.isAbandoned() ? undefined : run.hooks.callAll('beforeStep');
    return pendingHooks
      ? pendingHooks.then(() => this.beginUnlessStopped(isStopped, signalCount))
      : this.beginUnlessStopped(isStopped, signalCount);
  }

  /** A limit may have raised its signal in the step before; that signal counts as well, from `signalCount` on. */
  private beginUnlessStopped(isStopped: boolean, signalCount: number): true {
    const { run } = this;
    if (isStopped || this.signalCount > signalCount)
      run.change(run.state.withoutContinuationRequested(run.now()));
    if (nextActionOf(run).type === 'beginStep') this.beginStep(run.now());
    return true;
  }

  private beginStep(at: Instant): void {
    const { run, loop } = this;
    if (!run.mayBegin()) return;
    const [stepId, input] = [StepId.create(loop.clock), loop.compile(run.state)];
    run.beginStep(stepId, input, at);
  }

  private toolRound(calls: readonly ToolCallPart[], inDoubt: readonly ToolExecution[] = []): ToolRound {
    const { run, toolSignal } = this;
    return new ToolRound(run, run.signals.forTools(toolSignal.signal), calls, inDoubt);
  }

  /** Resolves the calls in doubt and runs the other calls. Returns false when the calls belong to this run. */
  private async resumeTools(inDoubt: readonly ToolExecution[]): Promise<boolean> {
    if (!this.hasCallsInDoubt) return false;
    this.hasCallsInDoubt = false;
    return this.toolRound(this.run.state.currentStep?.callsToRun ?? [], inDoubt).runCalls();
  }

  private async completeStep(): Promise<false> {
    const { run } = this;
    await run.checkpointer.save('outcome');
    this.recordCancel();
    await run.hooks.callAll('afterStep');
    return false;
  }

  /** True when the open step must be closed. False while the execution waits, and when the run hands it over. */
  private mustCloseStep(isStuck: boolean): boolean {
    const { run } = this;
    if (run.currentStep === undefined || run.signals.isHandedOver()) return false;
    return isStuck || nextActionOf(run).type !== 'wait';
  }

  private closeStep(): void {
    const { run } = this;
    const at = run.now();
    const [messageIds, workedSeconds] = [newStepMessageIds(run.loop.clock), run.countSeconds(at)];
    run.advance({ type: 'stepClosed', messageIds, workedSeconds, at });
    this.isInStep = false;
  }

  /** Closes the calls that wait inside, as subagents do. Returns a promise only when there are some. */
  private closeWaitingCalls(): Promise<void> | undefined {
    const executions = this.run.currentStep?.toolExecutions ?? NOTHING;
    if (!some(executions, isWaitingInside)) return undefined;
    return this.toolRound([]).closeInterrupted(executions.filter(isWaitingInside));
  }

  /** Records a cancel, so that hooks see it. */
  private recordCancel(): void {
    if (abortKind(this.run.signals.runSignal) === 'cancel') this.run.checkAbort();
  }
}

function isWaitingInside({ waitingInside }: ToolExecution): boolean {
  return waitingInside.length > 0;
}
