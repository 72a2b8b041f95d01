import type { Instant } from '../../clock.ts';
import type { StopSignal } from '../../state/execution/continuation.ts';
import type { ToolExecution } from '../../state/tools/tool-execution.ts';
import { indexOfExecution } from '../../state/tools/tool-executions.ts';
import type { ToolCallPart } from '../../state/messages/messages.ts';
import { NOTHING, pushTo } from '../../state/values/frozen-array.ts';
import type { ToolExecutionId } from '../../state/values/ids.ts';
import { stepAtWork } from '../steps/stepper.ts';
import { interruptedCall } from '../tools/call-outcome.ts';
import { fittedExecution } from '../tools/result-size.ts';
import type { Tool } from '../tools/tool-types.ts';
import { admitAgain, resolveInDoubt } from './resolve-in-doubt.ts';
import { admit, mayStart, type Admission, type StartedCall } from './tool-admission.ts';
import { endOfFailure, runAttempts, type CallEnd } from './tool-attempts.ts';
import type { ToolRun } from './running-tool.ts';

/** A completed call whose result is not recorded yet. */
interface EndedCall {
  readonly id: ToolExecutionId;
  readonly end: CallEnd;
}

/**
 * The tool calls of one step: each is admitted, marked as started, saved, attempted, and its outcome is recorded. The
 * calls run in parallel, and their results are recorded as they complete. Calls that start in the same tick are one
 * change of the state, and so are calls that complete in the same tick. When a hook throws, running calls may complete,
 * and no further call starts.
 */
export class ToolRound {
  private readonly run: ToolRun;
  private readonly toolSignal: AbortSignal;
  /** The calls in doubt, which an earlier process started; they run before the others. */
  private readonly inDoubt: readonly ToolExecution[];
  private readonly calls: readonly ToolCallPart[];
  /** The number of calls, in doubt or new, that have started or completed without a start. */
  private startedCount = 0;
  private running = 0;
  /** Calls that are marked as started and wait for a save before they run. */
  private toLaunch: readonly StartedCall[] = NOTHING;
  private endedCalls: EndedCall[] | undefined;
  private onEnded: (() => void) | undefined;
  private lastCall: Promise<void> | undefined;
  private hasHookThrown = false;
  /** True when a call with an effect has completed and is not saved yet. */
  private hasOutcome = false;

  constructor(
    run: ToolRun,
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
        if (this.startedCount < inDoubt.length && !this.run.signals.isHandedOver())
          await this.closeInterrupted(inDoubt.slice(this.startedCount));
        return !this.hasHookThrown;
      }
      if (this.endedCalls === undefined) await this.nextEnd();
      const pendingRecord = this.recordResults();
      if (pendingRecord) await pendingRecord;
    }
  }

  /** Resolves the calls in doubt: each completes, waits for a person, or stays to run again. */
  async resolveInDoubt(): Promise<void> {
    for (const execution of this.inDoubt) {
      const admission = await resolveInDoubt(this.run, execution);
      if (this.run.signals.isHandedOver()) return;
      if (admission !== 'retry') await this.apply(admission);
    }
  }

  /** Completes calls as `interrupted` that an earlier process started. */
  async closeInterrupted(executions: readonly ToolExecution[]): Promise<void> {
    for (const running of executions) {
      const at = this.run.now();
      await this.finish(running.withCheckedOutcome(interruptedCall(this.toolOf(running), running), at), at);
    }
  }

  // Starting

  private mayStartMore(starting: number): boolean {
    if (this.startedCount >= this.inDoubt.length + this.calls.length) return false;
    return this.running + starting < this.run.loop.maxParallelTools && mayStart(this.run);
  }

  /** Starts calls, up to one whose admission takes time. Returns a promise of that admission. */
  private startSome(): Promise<void> | undefined {
    let starting: StartedCall[] | undefined;
    const at = this.run.now();
    try {
      while (this.mayStartMore(starting?.length ?? 0)) {
        const admission = this.admitNext();
        if (admission instanceof Promise || admission?.type !== 'start') {
          this.begin(starting, at);
          return this.apply(admission);
        }
        const { execution, args } = admission;
        starting = pushTo(starting, { execution: execution.withStarted(at), args });
      }
      this.begin(starting, at);
      return undefined;
    } catch (error) {
      this.begin(starting, at);
      return this.fail(error);
    }
  }

  private admitNext(): Admission | Promise<Admission> {
    const place = this.startedCount++;
    const open = this.inDoubt[place];
    if (open) return admitAgain(this.run, open);
    return admit(this.run, this.calls[place - this.inDoubt.length] as ToolCallPart);
  }

  private async apply(admission: Admission | Promise<Admission>): Promise<void> {
    try {
      const admitted = await admission;
      if (admitted === undefined) return;
      const { type, execution } = admitted;
      const at = this.run.now();
      if (type === 'start') this.begin([{ execution: execution.withStarted(at), args: admitted.args }], at);
      else if (type === 'requestApproval') this.run.record([execution.withApprovalRequested(at)], at);
      else await this.finish(this.fitted(execution), at);
      if (admitted.type === 'end' && admitted.thrown) await this.fail(admitted.thrown.error);
    } catch (error) {
      await this.fail(error);
    }
  }

  /** Marks calls as started and runs them: at once, or after a save. */
  private begin(starting: readonly StartedCall[] | undefined, at: Instant): void {
    if (starting === undefined) return;
    this.run.record(
      starting.map(({ execution }) => execution),
      at,
    );
    this.running += starting.length;
    if (this.run.checkpointer.isEnabled) this.toLaunch = [...this.toLaunch, ...starting];
    else this.call(starting);
  }

  /** Runs the marked calls after a save. Returns a promise only when there is something to save. */
  private launch(): Promise<void> | undefined {
    const { toLaunch, run } = this;
    if (!run.checkpointer.isEnabled || (toLaunch.length === 0 && !this.hasOutcome)) return undefined;
    if (toLaunch.length === 0 && this.running === 0) return undefined; // the step is saved as a whole
    const isIntent = toLaunch.some(({ execution }) => this.hasEffect(execution));
    const point = toLaunch.length > 0 ? 'inference' : 'outcome';
    const pendingSave = run.checkpointer.save(isIntent ? 'intent' : point);
    this.toLaunch = NOTHING;
    this.hasOutcome = false;
    if (pendingSave) return pendingSave.then(() => this.call(toLaunch));
    this.call(toLaunch);
    return undefined;
  }

  private call(started: readonly StartedCall[]): void {
    for (const call of started) {
      const { id } = call.execution;
      this.lastCall = runAttempts(this.run, call, this.toolSignal).then(
        (end) => this.noteEnd(id, end),
        (error: unknown) => this.noteEnd(id, endOfFailure(error)),
      );
    }
  }

  /** Resolves when a call has ended: when it is the only one, with the call. */
  private nextEnd(): Promise<void> {
    const isOnly = this.inDoubt.length + this.calls.length === 1;
    if (isOnly && this.lastCall) return this.lastCall;
    return new Promise((resolve) => (this.onEnded = resolve));
  }

  private noteEnd(id: ToolExecutionId, end: CallEnd | undefined): void {
    if (end) this.endedCalls = pushTo(this.endedCalls, { id, end });
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
    for (const { id, end } of ended) {
      try {
        const at = this.run.now();
        await this.finish(this.endedExecution(this.indexOf(id), end, at), at, end);
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
    let done: ToolExecution[] | undefined;
    let [count, place] = [0, -1];
    try {
      while (count < ended.length) {
        const { id, end } = ended[count++] as EndedCall;
        const previous = place;
        place = this.indexOf(id, previous + 1);
        if (place < previous) done = this.recordDone(done, at);
        const execution = this.endedExecution(place, end, at, done);
        done = pushTo(done, execution);
        const stops = this.stopSignalsOf(execution, end);
        if (stops.length === 0) continue;
        done = this.recordDone(done, at);
        for (const stop of stops) this.run.raise(stop);
      }
      return this.recordDone(done, at);
    } catch (error) {
      this.recordDone(done, at);
      return this.fail(error).then(() => this.recordOneByOne(ended.slice(count)));
    }
  }

  private indexOf(id: ToolExecutionId, likely = 0): number {
    return indexOfExecution(stepAtWork(this.run)?.toolExecutions ?? NOTHING, id, likely);
  }

  /** The current version of the execution, with its outcome: its tool may have reported progress or usage. */
  private endedExecution(
    place: number,
    { outcome }: CallEnd,
    at: Instant,
    done?: readonly ToolExecution[],
  ): ToolExecution {
    const execution = stepAtWork(this.run)?.toolExecutions[place] as ToolExecution;
    const isForgotten = this.toolOf(execution)?.isResumable && outcome.type !== 'interrupted';
    const known = isForgotten ? execution.withNewProgress(undefined) : execution;
    return this.fitted(known.withCheckedOutcome(outcome, at), done);
  }

  /** The execution with an outcome that the store can take. `done` are completed calls that are not recorded yet. */
  private fitted(execution: ToolExecution, done: readonly ToolExecution[] = NOTHING): ToolExecution {
    const { state, loop } = this.run;
    const recorded = stepAtWork(state)?.toolExecutions ?? NOTHING;
    const others = done.length === 0 ? recorded : [...recorded, ...done];
    return fittedExecution(execution, others, state.metadata, loop.resultLimits);
  }

  /** Records a completed call and calls AfterToolUse hooks. Their errors are recorded in the state. */
  private async finish(toolExecution: ToolExecution, at: Instant, end?: CallEnd): Promise<void> {
    const { run } = this;
    if (run.signals.isAbandoned()) return;
    let execution = toolExecution;
    try {
      this.recordDone([execution], at);
      if (run.loop.hooks.has('afterToolUse')) {
        await run.checkpointer.save('outcome');
        execution = await run.hooks.pass('afterToolUse', execution, (known, change) => {
          if (change?.toolExecution === undefined) return known;
          const changed = this.fitted(change.toolExecution);
          run.record([changed], run.now());
          return changed;
        });
      }
      if (!run.signals.isAbandoned()) for (const stop of this.stopSignalsOf(execution, end)) run.raise(stop);
    } catch (error) {
      await this.fail(error);
    }
  }

  private recordDone(done: readonly ToolExecution[] | undefined, at: Instant): undefined {
    if (done === undefined) return;
    this.run.record(done, at);
    this.hasOutcome ||= this.run.checkpointer.isEnabled && done.some((each) => this.hasEffect(each));
  }

  /** The stop signals to raise for a call that stopped the execution, or that failed when `toolErrors` is `fail`. */
  private stopSignalsOf(execution: ToolExecution, end: CallEnd | undefined): readonly StopSignal[] {
    const { outcome, rule, name, error } = execution;
    const stops = end?.stop ? [end.stop] : NOTHING;
    const wasAborted = outcome?.type === 'interrupted' && this.toolSignal.aborted;
    if (this.run.loop.toolErrors !== 'fail' || !rule?.canFailExecution || wasAborted) return stops;
    if (end?.retryAfterSeconds !== undefined) return stops;
    const message = `Tool "${name}" failed: ${error?.message ?? ''}`;
    return [...stops, { reason: 'errorForbade', message, source: 'toolErrors' }];
  }

  private toolOf({ name }: ToolExecution): Tool | undefined {
    return this.run.loop.tools.get(name);
  }

  /** True when a second run of the tool could do harm, or when its outcome must be saved at once. */
  private hasEffect(execution: ToolExecution): boolean {
    return this.toolOf(execution)?.effect !== 'readOnly';
  }

  private fail(error: unknown): Promise<void> {
    this.hasHookThrown = true;
    return this.run.hooks.recordThrown(error);
  }
}
