import type { Instant } from '../../clock.ts';
import type { StopSignal } from '../../state/execution/continuation.ts';
import { pushTo } from '../../state/values/frozen-array.ts';
import type { ToolExecutionId } from '../../state/values/ids.ts';
import type { ToolCallPart } from '../../state/messages/messages.ts';
import type { ToolExecution } from '../../state/tools/tool-execution.ts';
import { indexOfExecution } from '../../state/tools/tool-executions.ts';
import { outcomeAtEnd } from '../../state/tools/tool-outcome.ts';
import type { RunState } from './run-state.ts';
import { resolveInDoubt } from './resolve-in-doubt.ts';
import { stepAtWork } from '../steps/stepper.ts';
import { admit, admitAgain, admitByPerson, mayStart, type Admission } from './tool-admission.ts';
import type { AttemptResult } from './tool-runner.ts';
import { toolHasEffect, isResumable, runWithRetries } from './tool-attempts.ts';

/** A completed call whose result is not recorded yet. */
interface EndedCall {
  readonly id: ToolExecutionId;
  readonly finished: AttemptResult;
}

const NOTHING: readonly never[] = Object.freeze([]);

/**
 * The tool calls of one step. They run in parallel, and their results are recorded as they complete. Calls that start
 * in the same tick are one change of the state, and so are calls that complete in the same tick. When a hook throws,
 * running calls may complete, and no further call starts.
 */
export class ToolRound {
  private readonly run: RunState;
  private readonly toolSignal: AbortSignal;
  /** The calls in doubt, which an earlier process started; they run before the others. */
  private readonly inDoubt: readonly ToolExecution[];
  private readonly calls: readonly ToolCallPart[];
  /** The number of calls, in doubt or new, that have started or completed without a start. */
  private startedCount = 0;
  private running = 0;
  /** Calls that are marked as started and wait for a save before they run. */
  private toLaunch: readonly ToolExecution[] = NOTHING;
  /** The arguments of the marked calls, in the same order. */
  private argsToLaunch: readonly unknown[] = NOTHING;
  private endedCalls: EndedCall[] | undefined;
  private onEnded: (() => void) | undefined;
  private hasHookThrown = false;
  /** True when a call with an effect has completed and is not saved yet. */
  private hasOutcome = false;

  constructor(
    run: RunState,
    toolSignal: AbortSignal,
    calls: readonly ToolCallPart[] = NOTHING,
    inDoubt: readonly ToolExecution[] = NOTHING,
  ) {
    this.run = run;
    this.toolSignal = toolSignal;
    this.calls = calls;
    this.inDoubt = inDoubt;
  }

  /** Runs the calls, those in doubt first. Returns false when a hook threw. */
  async runCalls(): Promise<boolean> {
    const { inDoubt } = this;
    for (;;) {
      while (this.mayStartMore(0)) {
        const pendingStart = this.startSome();
        if (pendingStart) await pendingStart;
      }
      const pendingSave = this.launch();
      if (pendingSave) await pendingSave;
      if (this.running === 0) {
        if (this.startedCount < inDoubt.length && !this.run.isHandedOver())
          await this.closeInterrupted(inDoubt.slice(this.startedCount));
        return !this.hasHookThrown;
      }
      if (this.endedCalls === undefined) await new Promise<void>((resolve) => (this.onEnded = resolve));
      const pendingRecord = this.recordResults();
      if (pendingRecord) await pendingRecord;
    }
  }

  /** Resolves the calls in doubt: each completes, waits for a person, or stays to run again. */
  async resolveInDoubt(): Promise<void> {
    for (const execution of this.inDoubt) {
      const resolution = await resolveInDoubt(this.run, execution);
      if (this.run.isHandedOver()) return;
      if (resolution === 'retry') continue;
      const at = this.run.now();
      if (resolution === 'requestApproval') await this.awaitAdmission(admitByPerson(this.run, execution));
      else await this.finish(execution.withCheckedOutcome(resolution, at), at);
    }
  }

  /** Completes calls as `interrupted` that an earlier process started. */
  async closeInterrupted(executions: readonly ToolExecution[]): Promise<void> {
    for (const running of executions) {
      const at = this.run.now();
      await this.finish(running.withCheckedOutcome(outcomeAtEnd(running), at), at);
    }
  }

  // Starting

  private mayStartMore(starting: number): boolean {
    if (this.startedCount >= this.inDoubt.length + this.calls.length) return false;
    return this.running + starting < this.run.loop.maxParallelTools && mayStart(this.run);
  }

  /** Starts calls, up to one whose admission takes time. Returns a promise of that admission. */
  private startSome(): Promise<void> | undefined {
    let starting: ToolExecution[] | undefined;
    let args: unknown[] | undefined;
    const at = this.run.now();
    try {
      while (this.mayStartMore(starting?.length ?? 0)) {
        const admission = this.admitNext();
        if (admission instanceof Promise || admission?.type !== 'start') {
          this.markStarted(starting, args, at);
          return this.awaitAdmission(admission);
        }
        starting = pushTo(starting, admission.execution.withStarted(at));
        args = pushTo(args, admission.args);
      }
      this.markStarted(starting, args, at);
      return undefined;
    } catch (error) {
      this.markStarted(starting, args, at);
      return this.fail(error);
    }
  }

  private admitNext(): Admission | Promise<Admission> {
    const place = this.startedCount++;
    const open = this.inDoubt[place];
    if (open) return admitAgain(this.run, open);
    return admit(this.run, this.calls[place - this.inDoubt.length] as ToolCallPart);
  }

  private async awaitAdmission(admission: Admission | Promise<Admission>): Promise<void> {
    try {
      const admitted = await admission;
      if (admitted === undefined) return;
      const { type, execution } = admitted;
      const at = this.run.now();
      if (type === 'start') this.markStarted([execution.withStarted(at)], [admitted.args], at);
      else if (type === 'requestApproval') this.recordExecution(execution.withApprovalRequested(at), at);
      else await this.finish(execution, at);
      if (admitted.type === 'end' && admitted.thrown) throw admitted.thrown.error;
    } catch (error) {
      await this.fail(error);
    }
  }

  /** Marks calls as started and runs them: at once, or after a save. */
  private markStarted(
    executions: readonly ToolExecution[] | undefined,
    args: readonly unknown[] | undefined,
    at: Instant,
  ): void {
    if (executions === undefined || args === undefined) return;
    this.run.advance({ type: 'toolsAdvanced', toolExecutions: executions, at });
    this.running += executions.length;
    if (this.run.checkpointer.isEnabled) {
      this.toLaunch = [...this.toLaunch, ...executions];
      this.argsToLaunch = [...this.argsToLaunch, ...args];
    } else this.call(executions, args);
  }

  /** Runs the marked calls after a save. Returns a promise only when there is something to save. */
  private launch(): Promise<void> | undefined {
    const { toLaunch, argsToLaunch, run } = this;
    if (!run.checkpointer.isEnabled || (toLaunch.length === 0 && !this.hasOutcome)) return undefined;
    if (toLaunch.length === 0 && this.running === 0) return undefined; // the step is saved as a whole
    const isIntent = toLaunch.some((execution) => toolHasEffect(run, execution));
    const pendingSave = run.checkpointer.save(
      run,
      isIntent ? 'intent' : toLaunch.length > 0 ? 'inference' : 'outcome',
    );
    this.toLaunch = NOTHING;
    this.argsToLaunch = NOTHING;
    this.hasOutcome = false;
    if (pendingSave) return pendingSave.then(() => this.call(toLaunch, argsToLaunch));
    this.call(toLaunch, argsToLaunch);
    return undefined;
  }

  private call(executions: readonly ToolExecution[], args: readonly unknown[]): void {
    for (let place = 0; place < executions.length; place++) {
      const execution = executions[place] as ToolExecution;
      void runWithRetries(this.run, execution, args[place], this.toolSignal).then((finished) =>
        this.noteEnd(execution.id, finished),
      );
    }
  }

  private noteEnd(id: ToolExecutionId, finished: AttemptResult | undefined): void {
    if (finished) this.endedCalls = pushTo(this.endedCalls, { id, finished });
    else {
      this.running--;
      this.run.checkAbort();
    }
    this.onEnded?.();
  }

  // Ending

  /** Records the results of completed calls. Returns a promise only when hooks are called. */
  private recordResults(): Promise<void> | undefined {
    const { endedCalls } = this;
    if (endedCalls === undefined) return undefined;
    this.endedCalls = undefined;
    this.running -= endedCalls.length;
    return this.run.loop.hooks.has('afterToolUse')
      ? this.recordOneByOne(endedCalls)
      : this.recordTogether(endedCalls);
  }

  private async recordOneByOne(ended: readonly EndedCall[]): Promise<void> {
    for (const { id, finished } of ended) {
      try {
        const at = this.run.now();
        await this.finish(this.endedExecution(this.indexOf(id), finished, at), at, finished);
      } catch (error) {
        await this.fail(error);
      }
    }
    if (this.endedCalls) await this.recordResults();
  }

  /**
   * Records the results in one change, unless a call stops the run or completed before a call that was requested
   * earlier.
   */
  private recordTogether(ended: readonly EndedCall[]): Promise<void> | undefined {
    const at = this.run.now();
    let ends: ToolExecution[] | undefined;
    let [count, place] = [0, -1];
    try {
      while (count < ended.length) {
        const { id, finished } = ended[count++] as EndedCall;
        const previous = place;
        place = this.indexOf(id, previous + 1);
        if (place < previous) ends = this.recordExecutions(ends, at);
        const end = this.endedExecution(place, finished, at);
        ends = pushTo(ends, end);
        const stops = this.stopSignalsOf(end, finished);
        if (stops.length === 0) continue;
        ends = this.recordExecutions(ends, at);
        for (const stop of stops) this.run.raise(stop);
      }
      this.recordExecutions(ends, at);
      return undefined;
    } catch (error) {
      this.recordExecutions(ends, at);
      return this.fail(error).then(() => this.recordOneByOne(ended.slice(count)));
    }
  }

  private recordExecutions(ends: readonly ToolExecution[] | undefined, at: Instant): undefined {
    if (ends === undefined) return;
    this.run.advance({ type: 'toolsAdvanced', toolExecutions: ends, at });
    this.hasOutcome ||= this.run.checkpointer.isEnabled && ends.some((end) => toolHasEffect(this.run, end));
  }

  private indexOf(id: ToolExecutionId, likely = 0): number {
    return indexOfExecution(stepAtWork(this.run.state)?.toolExecutions ?? NOTHING, id, likely);
  }

  /** The current version of the execution, with its outcome: its tool may have reported progress or usage. */
  private endedExecution(place: number, { outcome }: AttemptResult, at: Instant): ToolExecution {
    const execution = stepAtWork(this.run.state)?.toolExecutions[place] as ToolExecution;
    const isForgotten = isResumable(this.run, execution) && outcome.type !== 'interrupted';
    const known = isForgotten ? execution.withNewProgress(undefined) : execution;
    return known.withCheckedOutcome(outcome, at);
  }

  /** Records a completed call and calls AfterToolUse hooks. Their errors are recorded in the state. */
  private async finish(toolExecution: ToolExecution, at: Instant, finished?: AttemptResult): Promise<void> {
    const { run } = this;
    if (run.isAbandoned()) return;
    let execution = toolExecution;
    try {
      this.recordExecutions([execution], at);
      if (run.loop.hooks.has('afterToolUse')) {
        await run.checkpointer.save(run, 'outcome');
        execution = await this.changedByHooks(execution);
      }
      if (!run.isAbandoned()) for (const stop of this.stopSignalsOf(execution, finished)) run.raise(stop);
    } catch (error) {
      await this.fail(error);
    }
  }

  private async changedByHooks(toolExecution: ToolExecution): Promise<ToolExecution> {
    let execution = toolExecution;
    const { run } = this;
    for (const hook of run.loop.hooks.at('afterToolUse')) {
      if (run.isAbandoned()) break;
      const { context } = run;
      const change = await run.callHook(hook, 'afterToolUse', execution, context);
      if (change?.state) run.changeFrom(context.state, change.state);
      if (change?.toolExecution === undefined) continue;
      execution = change.toolExecution;
      this.recordExecution(execution, run.now());
    }
    return execution;
  }

  private recordExecution(toolExecution: ToolExecution, at: Instant): void {
    this.run.advance({ type: 'toolAdvanced', toolExecution, at });
  }

  /** The stop signals to raise for a call that stopped the execution, or that failed when `toolErrors` is `fail`. */
  private stopSignalsOf(
    execution: ToolExecution,
    finished: AttemptResult | undefined,
  ): readonly StopSignal[] {
    const { outcome, rule, name, error } = execution;
    const stops = finished?.stop ? [finished.stop] : NOTHING;
    const wasAborted = outcome?.type === 'interrupted' && this.toolSignal.aborted;
    if (this.run.loop.toolErrors !== 'fail' || !rule?.canFailExecution || wasAborted) return stops;
    if (finished?.retryAfterSeconds !== undefined) return stops;
    const message = `Tool "${name}" failed: ${error?.message ?? ''}`;
    return [...stops, { reason: 'errorForbade', message, source: 'toolErrors' }];
  }

  private fail(error: unknown): Promise<void> {
    this.hasHookThrown = true;
    return this.run.recordThrown(error);
  }
}
