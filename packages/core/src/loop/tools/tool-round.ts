import type { Instant } from '../../clock.ts';
import type { StopSignal } from '../../state/execution/continuation.ts';
import { pushed } from '../../state/values/frozen-array.ts';
import type { ToolExecutionId } from '../../state/values/ids.ts';
import type { ToolCallPart } from '../../state/messages/messages.ts';
import type { ToolExecution } from '../../state/execution/tool-execution.ts';
import { placeOf } from '../../state/execution/tool-executions.ts';
import { interrupted } from '../../state/execution/tool-outcome.ts';
import type { RunState } from '../run-state.ts';
import { resolveInDoubt } from './resolve-in-doubt.ts';
import { stepAtWork } from '../stepper.ts';
import type { Admission } from './tool-admission.ts';
import { admit, mayStart } from './tool-admission.ts';
import type { FinishedTool } from './tool-runner.ts';
import { hasEffect, isResumable, runWithRetries } from './tool-attempts.ts';

/** A call that has ended and was not taken in yet. */
interface EndedCall {
  readonly id: ToolExecutionId;
  readonly finished: FinishedTool;
}

const NOTHING: readonly never[] = Object.freeze([]);

/**
 * The tools of one step. They run side by side; what they come to is taken in as they end. Calls that start in the same
 * tick are one change of the state, and so are calls that end in the same tick. When a hook throws, what runs may end,
 * and nothing more is started.
 */
export class ToolRound {
  private readonly run: RunState;
  private readonly toolSignal: AbortSignal;
  /** Calls that an earlier process has left: they are taken up before the others. */
  private readonly left: readonly ToolExecution[];
  private readonly calls: readonly ToolCallPart[];
  /** How many of both were started, or ended without that. */
  private startedCount = 0;
  private running = 0;
  /** Calls that are marked as started, and wait for that to be kept. */
  private begun: readonly ToolExecution[] = NOTHING;
  private ended: EndedCall[] | undefined;
  private wake: (() => void) | undefined;
  private hasThrown = false;
  /** Something with an effect has ended, and that was not kept yet. */
  private hasOutcome = false;

  constructor(
    run: RunState,
    toolSignal: AbortSignal,
    calls: readonly ToolCallPart[] = NOTHING,
    left: readonly ToolExecution[] = NOTHING,
  ) {
    this.run = run;
    this.toolSignal = toolSignal;
    this.calls = calls;
    this.left = left;
  }

  /** Runs the calls, those of an earlier process first. False when a hook threw. */
  async carryOut(): Promise<boolean> {
    const { left } = this;
    for (;;) {
      while (this.mayStartMore(0)) {
        const asked = this.startSome();
        if (asked) await asked;
      }
      const kept = this.launch();
      if (kept) await kept;
      if (this.running === 0) {
        if (this.startedCount < left.length && !this.run.hasLeft())
          await this.closeInterrupted(left.slice(this.startedCount));
        return !this.hasThrown;
      }
      if (this.ended === undefined) await new Promise<void>((resolve) => (this.wake = resolve));
      const taken = this.takeIn();
      if (taken) await taken;
    }
  }

  /** Calls that an earlier process started and left: they end, or wait for a person, unless they can be called again. */
  async resolve(): Promise<void> {
    for (const left of this.left) {
      const resolution = await resolveInDoubt(this.run, left);
      if (this.run.hasLeft()) return;
      const at = this.run.now();
      if (resolution === 'ask') this.take(left.withApprovalRequested(at), at);
      else if (resolution !== 'again') await this.finish(left.withCheckedOutcome(resolution, at), at);
    }
  }

  /** Ends calls that an earlier process started and did not finish. */
  async closeInterrupted(executions: readonly ToolExecution[]): Promise<void> {
    for (const running of executions) {
      const at = this.run.now();
      await this.finish(running.withCheckedOutcome(interrupted(running), at), at);
    }
  }

  // Starting

  private mayStartMore(starting: number): boolean {
    if (this.startedCount >= this.left.length + this.calls.length) return false;
    return this.running + starting < this.run.loop.maxParallelTools && mayStart(this.run);
  }

  /** Starts calls up to one that something must be asked about first. A promise for what that comes to. */
  private startSome(): Promise<void> | undefined {
    let starting: ToolExecution[] | undefined;
    const at = this.run.now();
    try {
      while (this.mayStartMore(starting?.length ?? 0)) {
        const admission = this.admitNext(at);
        if (admission instanceof Promise) {
          this.begin(starting, at);
          return this.follow(admission);
        }
        if (admission) starting = pushed(starting, admission.execution.withStarted(at));
      }
      this.begin(starting, at);
      return undefined;
    } catch (error) {
      this.begin(starting, at);
      return this.fail(error);
    }
  }

  private admitNext(at: Instant): Admission | Promise<Admission> {
    const place = this.startedCount++;
    const open = this.left[place];
    if (open) return { type: 'begin', execution: open.withNextAttempt(at) };
    return admit(this.run, this.calls[place - this.left.length] as ToolCallPart);
  }

  private async follow(admission: Promise<Admission>): Promise<void> {
    try {
      const admitted = await admission;
      if (admitted === undefined) return;
      const { type, execution } = admitted;
      const at = this.run.now();
      if (type === 'begin') this.begin([execution.withStarted(at)], at);
      else if (type === 'ask') this.take(execution.withApprovalRequested(at), at);
      else await this.finish(execution, at);
      if (admitted.type === 'end' && admitted.thrown) throw admitted.thrown.error;
    } catch (error) {
      await this.fail(error);
    }
  }

  /** Marks calls as started, and calls them: at once, or when that is kept. */
  private begin(executions: readonly ToolExecution[] | undefined, at: Instant): void {
    if (executions === undefined) return;
    this.run.advance({ type: 'toolsAdvanced', toolExecutions: executions, at });
    this.running += executions.length;
    if (this.run.kept.isAsked) this.begun = [...this.begun, ...executions];
    else this.call(executions);
  }

  /** Calls what was begun, once that is kept. A promise only when there is something to wait for. */
  private launch(): Promise<void> | undefined {
    const { begun, run } = this;
    if (!run.kept.isAsked || (begun.length === 0 && !this.hasOutcome)) return undefined;
    if (begun.length === 0 && this.running === 0) return undefined; // the step is kept as a whole
    const isIntent = begun.some((execution) => hasEffect(run, execution));
    const kept = run.kept.keep(run, isIntent ? 'intent' : begun.length > 0 ? 'inference' : 'outcome');
    this.begun = NOTHING;
    this.hasOutcome = false;
    if (kept) return kept.then(() => this.call(begun));
    this.call(begun);
    return undefined;
  }

  private call(executions: readonly ToolExecution[]): void {
    for (const execution of executions) {
      const { id } = execution;
      void runWithRetries(this.run, execution, this.toolSignal).then((finished) =>
        this.noteEnd(id, finished),
      );
    }
  }

  private noteEnd(id: ToolExecutionId, finished: FinishedTool | undefined): void {
    if (finished) this.ended = pushed(this.ended, { id, finished });
    else {
      this.running--;
      this.run.checkAbort();
    }
    this.wake?.();
  }

  // Ending

  /** Takes in what has ended. A promise only when there is something to wait for. */
  private takeIn(): Promise<void> | undefined {
    const { ended } = this;
    if (ended === undefined) return undefined;
    this.ended = undefined;
    this.running -= ended.length;
    return this.run.loop.hooks.has('afterToolUse') ? this.takeInEach(ended) : this.takeInAll(ended);
  }

  private async takeInEach(ended: readonly EndedCall[]): Promise<void> {
    for (const { id, finished } of ended) {
      try {
        const at = this.run.now();
        await this.finish(this.endOf(this.placeOf(id), finished, at), at, finished);
      } catch (error) {
        await this.fail(error);
      }
    }
    if (this.ended) await this.takeIn();
  }

  /** In one change, unless a call stops the run, or has ended before one that was asked for earlier. */
  private takeInAll(ended: readonly EndedCall[]): Promise<void> | undefined {
    const at = this.run.now();
    let ends: ToolExecution[] | undefined;
    let [count, place] = [0, -1];
    try {
      while (count < ended.length) {
        const { id, finished } = ended[count++] as EndedCall;
        const previous = place;
        place = this.placeOf(id, previous + 1);
        if (place < previous) ends = this.takeEnds(ends, at);
        const end = this.endOf(place, finished, at);
        ends = pushed(ends, end);
        const stops = this.stopsOf(end, finished);
        if (stops.length === 0) continue;
        ends = this.takeEnds(ends, at);
        for (const stop of stops) this.run.raise(stop);
      }
      this.takeEnds(ends, at);
      return undefined;
    } catch (error) {
      this.takeEnds(ends, at);
      return this.fail(error).then(() => this.takeInEach(ended.slice(count)));
    }
  }

  private takeEnds(ends: readonly ToolExecution[] | undefined, at: Instant): undefined {
    if (ends === undefined) return;
    this.run.advance({ type: 'toolsAdvanced', toolExecutions: ends, at });
    this.hasOutcome ||= this.run.kept.isAsked && ends.some((end) => hasEffect(this.run, end));
  }

  private placeOf(id: ToolExecutionId, likely = 0): number {
    return placeOf(stepAtWork(this.run.state)?.toolExecutions ?? NOTHING, id, likely);
  }

  /** The execution, ended: as it stands now, as its tool may have left progress or usage in it. */
  private endOf(place: number, { outcome }: FinishedTool, at: Instant): ToolExecution {
    const execution = stepAtWork(this.run.state)?.toolExecutions[place] as ToolExecution;
    const isForgotten = isResumable(this.run, execution) && outcome.type !== 'interrupted';
    const known = isForgotten ? execution.withNewProgress(undefined) : execution;
    return known.withCheckedOutcome(outcome, at);
  }

  /** Takes in a call that has ended, and asks the hooks. What they throw is in the state then. */
  private async finish(toolExecution: ToolExecution, at: Instant, finished?: FinishedTool): Promise<void> {
    const { run } = this;
    if (run.isLost()) return;
    let execution = toolExecution;
    try {
      this.takeEnds([execution], at);
      if (run.loop.hooks.has('afterToolUse')) {
        await run.kept.keep(run, 'outcome');
        execution = await this.changedByHooks(execution);
      }
      if (!run.isLost()) for (const stop of this.stopsOf(execution, finished)) run.raise(stop);
    } catch (error) {
      await this.fail(error);
    }
  }

  private async changedByHooks(toolExecution: ToolExecution): Promise<ToolExecution> {
    let execution = toolExecution;
    const { run } = this;
    for (const hook of run.loop.hooks.at('afterToolUse')) {
      if (run.isLost()) break;
      const { context } = run;
      const change = await run.callHook(hook, 'afterToolUse', execution, context);
      if (change?.state) run.changeFrom(context.state, change.state);
      if (change?.toolExecution === undefined) continue;
      execution = change.toolExecution;
      this.take(execution, run.now());
    }
    return execution;
  }

  private take(toolExecution: ToolExecution, at: Instant): void {
    this.run.advance({ type: 'toolAdvanced', toolExecution, at });
  }

  /** The signals to raise for a call: it has told the execution to stop, or must not fail. */
  private stopsOf(execution: ToolExecution, finished: FinishedTool | undefined): readonly StopSignal[] {
    const { outcome, rule, name, error } = execution;
    const stops = finished?.stop ? [finished.stop] : NOTHING;
    const wasAborted = outcome?.type === 'interrupted' && this.toolSignal.aborted;
    if (this.run.loop.toolErrors !== 'fail' || !rule?.canFailExecution || wasAborted) return stops;
    if (finished?.retryAfterSeconds !== undefined) return stops;
    const message = `Tool "${name}" failed: ${error?.message ?? ''}`;
    return [...stops, { reason: 'errorForbade', message, source: 'toolErrors' }];
  }

  private fail(error: unknown): Promise<void> {
    this.hasThrown = true;
    return this.run.take(error);
  }
}
