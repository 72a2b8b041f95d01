import type { ToolExecutionId } from '../state/ids.ts';
import type { ToolCallPart } from '../state/messages.ts';
import type { ToolExecution } from '../state/tool-execution.ts';
import type { RunState } from './run-state.ts';
import { resolveLeft } from './left-tools.ts';
import type { Admission } from './tool-admission.ts';
import { admit, mayStart } from './tool-admission.ts';
import type { FinishedTool } from './tool-runner.ts';
import { interrupted } from './tool-runner.ts';
import { hasEffect, isResumable, latest, tried } from './tool-tries.ts';

/**
 * The tools of one step. They run side by side; what they come to is taken in one after the other, as they end. When
 * a hook throws, what runs may end, and nothing more is started.
 */
export class ToolRound {
  private readonly run: RunState;
  private readonly toolSignal: AbortSignal;
  /** Calls that have ended and were not taken in yet. */
  private readonly finished: (FinishedTool & { readonly id: ToolExecutionId })[] = [];
  private running = 0;
  /** Calls that are marked as started, and wait for that to be kept. */
  private begun: ToolExecution[] = [];
  private wake: () => void = () => undefined;
  private hasThrown = false;
  /** Something with an effect has ended, and that was not kept yet. */
  private hasOutcome = false;

  constructor(run: RunState, toolSignal: AbortSignal) {
    this.run = run;
    this.toolSignal = toolSignal;
  }

  /** Takes up calls that an earlier process has left, and runs the others. False when a hook threw. */
  async carryOut(calls: readonly ToolCallPart[], left: readonly ToolExecution[] = []): Promise<boolean> {
    const { maxParallelTools } = this.run.loop;
    const count = left.length + calls.length;
    let started = 0;
    for (;;) {
      while (started < count && this.running < maxParallelTools && mayStart(this.run)) {
        const open = left[started];
        const call = calls[started++ - left.length];
        const asked = this.attempt(() => (open ? this.takeUp(open) : this.start(call as ToolCallPart)));
        if (asked) await asked;
      }
      const launched = this.launch();
      if (launched) await launched;
      if (this.running === 0) {
        if (started < left.length && !this.run.hasLeft()) await this.closeInterrupted(left.slice(started));
        return !this.hasThrown;
      }
      if (this.finished.length === 0) await new Promise<void>((resolve) => (this.wake = resolve));
      await this.takeInFinished();
    }
  }

  private async takeInFinished(): Promise<void> {
    for (let ended = this.finished.shift(); ended !== undefined; ended = this.finished.shift()) {
      this.running--;
      const { outcome } = ended;
      const execution = latest(this.run, ended);
      const isForgotten = isResumable(this.run, execution) && outcome.type !== 'interrupted';
      const known = isForgotten ? execution.withNewProgress(undefined) : execution;
      const end = known.withCheckedOutcome(outcome, this.run.now());
      const taken = this.attempt(() => this.finish(end, ended));
      if (taken) await taken;
    }
  }

  /** Calls that an earlier process started and left: they end, or wait for a person, unless they can be called again. */
  async resolve(executions: readonly ToolExecution[]): Promise<void> {
    for (const left of executions) {
      const resolution = await resolveLeft(this.run, left);
      if (this.run.hasLeft()) return;
      if (resolution === 'ask') this.take(left.withApprovalRequested(this.run.now()));
      else if (resolution !== 'again')
        await this.attempt(() => this.finish(left.withCheckedOutcome(resolution, this.run.now())));
    }
  }

  /** Calls that an earlier process started and did not finish. */
  async closeInterrupted(executions: readonly ToolExecution[]): Promise<void> {
    for (const running of executions) {
      const toolExecution = running.withCheckedOutcome(interrupted(running), this.run.now());
      await this.attempt(() => this.finish(toolExecution));
    }
  }

  /** A promise only when the work is one, or failed. */
  private attempt(work: () => Promise<void> | undefined): Promise<void> | undefined {
    try {
      return work()?.catch((error: unknown) => this.fail(error));
    } catch (error) {
      return this.fail(error);
    }
  }

  private fail(error: unknown): Promise<void> {
    this.hasThrown = true;
    return this.run.take(error);
  }

  /** Marks the call as started, unless it must not run or a person must approve it first. */
  private start(call: ToolCallPart): Promise<void> | undefined {
    const admission = admit(this.run, call);
    return admission instanceof Promise ? admission.then((it) => this.follow(it)) : this.follow(admission);
  }

  private follow(admission: Admission): Promise<void> | undefined {
    if (admission === undefined) return undefined;
    const { type, execution } = admission;
    if (type === 'end') return this.finish(execution);
    const at = this.run.now();
    if (type === 'ask') this.take(execution.withApprovalRequested(at));
    else this.begin(execution.withStarted(at), at);
    return undefined;
  }

  private takeUp(left: ToolExecution): undefined {
    this.begin(left.withNextAttempt(this.run.now()));
  }

  private begin(execution: ToolExecution, at = this.run.now()): void {
    this.run.advance({ type: 'toolAdvanced', toolExecution: execution, at });
    this.running++;
    if (this.run.kept.isAsked) this.begun.push(execution);
    else void this.call(execution);
  }

  /** Calls what was begun, once that is kept. A promise only when there is something to wait for. */
  private launch(): Promise<void> | undefined {
    const { begun, run } = this;
    if (!run.kept.isAsked || (begun.length === 0 && !this.hasOutcome)) return undefined;
    if (begun.length === 0 && this.running === 0) return undefined; // the step is kept as a whole
    const isIntent = begun.some((execution) => hasEffect(run, execution));
    const kept = run.kept.keep(run, isIntent ? 'intent' : begun.length > 0 ? 'inference' : 'outcome');
    this.begun = [];
    this.hasOutcome = false;
    const call = (): void => {
      for (const execution of begun) void this.call(execution);
    };
    if (kept) return kept.then(call);
    call();
    return undefined;
  }

  private async call(execution: ToolExecution): Promise<void> {
    const ended = await tried(this.run, execution, this.toolSignal);
    if (ended) this.finished.push({ id: execution.id, ...ended });
    else {
      this.running--;
      this.run.checkAbort();
    }
    this.wake();
  }

  private finish(toolExecution: ToolExecution, ended?: FinishedTool): Promise<void> | undefined {
    if (this.run.isLost()) return undefined;
    this.take(toolExecution);
    this.hasOutcome ||= hasEffect(this.run, toolExecution);
    if (this.run.loop.hooks.has('afterToolUse')) return this.finishWithHooks(toolExecution, ended);
    this.conclude(toolExecution, ended);
    return undefined;
  }

  private async finishWithHooks(toolExecution: ToolExecution, ended?: FinishedTool): Promise<void> {
    let execution = toolExecution;
    await this.run.kept.keep(this.run, 'outcome');
    const { hooks } = this.run.loop;
    for (const hook of hooks.at('afterToolUse')) {
      if (this.run.isLost()) return;
      const { context } = this.run;
      const change = await this.run.callHook(hook, 'afterToolUse', execution, context);
      if (change?.state) this.run.changeFrom(context.state, change.state);
      if (change?.toolExecution === undefined) continue;
      execution = change.toolExecution;
      this.take(execution);
    }
    this.conclude(execution, ended);
  }

  private take(toolExecution: ToolExecution): void {
    this.run.advance({ type: 'toolAdvanced', toolExecution, at: this.run.now() });
  }

  private conclude({ outcome, rule, name, error }: ToolExecution, ended: FinishedTool | undefined): void {
    if (ended?.stop) this.run.raise(ended.stop);
    if (this.run.loop.toolErrors !== 'fail' || !rule?.canFailExecution) return;
    const wasAborted = outcome?.type === 'interrupted' && this.toolSignal.aborted;
    if (wasAborted || ended?.retryAfterSeconds !== undefined) return;
    const message = `Tool "${name}" failed: ${error?.message ?? ''}`;
    this.run.raise({ reason: 'errorForbade', message, source: 'toolErrors' });
  }
}
