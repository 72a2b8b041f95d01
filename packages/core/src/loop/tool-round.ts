import type { Clock } from '../clock.ts';
import { callAfter } from '../clock.ts';
import { ToolExecutionId } from '../state/ids.ts';
import { toErrorRecord } from '../state/error-record.ts';
import type { ToolCallPart } from '../state/messages.ts';
import { ToolExecution } from '../state/tool-execution.ts';
import type { RunState } from './run-state.ts';
import { canRunTools } from './stepper.ts';
import { resolveLeft } from './left-tools.ts';
import { ToolExecutionBlockedError } from './tool.ts';
import type { Tool } from './tool.ts';
import type { FinishedTool } from './tool-runner.ts';
import { interrupted, needsApproval, runTool } from './tool-runner.ts';
import { RunningTool } from './running-tool.ts';

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
      while (started < count && this.running < maxParallelTools && this.mayStart()) {
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
      for (let ended = this.finished.shift(); ended !== undefined; ended = this.finished.shift()) {
        this.running--;
        const { id, outcome } = ended;
        const execution = latest(this.run, { id });
        const isForgotten = this.isResumable(execution) && outcome.type !== 'interrupted';
        const known = isForgotten ? execution.withNewProgress(undefined) : execution;
        const taken = this.attempt(() =>
          this.finish(known.withCheckedOutcome(outcome, this.run.now()), ended),
        );
        if (taken) await taken;
      }
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

  private mayStart(): boolean {
    return this.run.mayBegin() && canRunTools(this.run.state);
  }

  /** Asks the hooks, then marks the call as started, unless it must not run. */
  private start(call: ToolCallPart): Promise<void> | undefined {
    if (this.run.loop.hooks.has('beforeToolUse')) return this.startIfAllowed(call);
    return this.beginOrAsk(call);
  }

  /** Begins a call, unless a person has to approve it first. */
  private beginOrAsk(call: ToolCallPart): Promise<void> | undefined {
    const { run } = this;
    const execution = this.intended(call);
    const tool = run.loop.tools.get(call.toolName);
    if (!execution.isApproved && tool?.needsApproval) return this.askIfNeeded(tool, execution);
    const at = run.now();
    this.begin(execution.withStarted(at), at);
    return undefined;
  }

  private async askIfNeeded(tool: Tool, intended: ToolExecution): Promise<void> {
    const { run } = this;
    try {
      const needed = await needsApproval(tool, intended, run);
      if (!this.mayStart()) return;
      if (needed) this.take(intended.withApprovalRequested(run.now()));
      else this.begin(intended.withStarted(run.now()));
    } catch (error) {
      await this.finish(intended.withOutcome({ type: 'failed', error: toErrorRecord(error) }, run.now()));
    }
  }

  /** The execution of a call that was approved, or a new one. */
  private intended(call: ToolCallPart): ToolExecution {
    const known = this.run.state.currentStep?.executionOf(call.toolCallId);
    return (
      known?.forCall(call) ??
      ToolExecution.ofChecked(call, undefined, ToolExecutionId.create(this.run.loop.clock))
    );
  }

  private async startIfAllowed(requested: ToolCallPart): Promise<void> {
    let call = requested;
    const { hooks } = this.run.loop;
    for (const hook of hooks.at('beforeToolUse')) {
      const { context } = this.run;
      const change = await this.run.callHook(hook, 'beforeToolUse', call, context);
      if (change?.state) this.run.changeFrom(context.state, change.state);
      call = change?.call ?? call;
      if (change?.block !== undefined) return this.block(call, change.block);
      if (!this.mayStart()) return;
    }
    await this.beginOrAsk(call);
  }

  private takeUp(left: ToolExecution): undefined {
    this.begin(left.withNextAttempt(this.run.now()));
  }

  private begin(execution: ToolExecution, at = this.run.now()): void {
    this.run.advance({ type: 'toolAdvanced', toolExecution: execution, at });
    this.running++;
    if (this.run.kept.isAsked) this.begun.push(execution);
    else void this.tryUntilFinished(execution);
  }

  /** Calls what was begun, once that is kept. A promise only when there is something to wait for. */
  private launch(): Promise<void> | undefined {
    const { begun, run } = this;
    if (!run.kept.isAsked || (begun.length === 0 && !this.hasOutcome)) return undefined;
    const hasEffect = begun.some((execution) => this.hasEffect(execution));
    if (begun.length === 0 && this.running === 0) return undefined; // the step is kept as a whole
    const kept = run.kept.keep(run, hasEffect ? 'intent' : begun.length > 0 ? 'inference' : 'outcome');
    this.begun = [];
    this.hasOutcome = false;
    const call = (): void => {
      for (const execution of begun) void this.tryUntilFinished(execution);
    };
    if (kept) return kept.then(call);
    call();
    return undefined;
  }

  /** Would calling it twice do harm, or is its outcome worth keeping at once? */
  private hasEffect({ name }: ToolExecution): boolean {
    return this.run.loop.tools.get(name)?.effect !== 'readOnly';
  }

  /** Tries the call until it ends in a way that stays, which it does whatever is thrown. */
  private async tryUntilFinished(first: ToolExecution): Promise<void> {
    try {
      await this.tries(first);
    } catch (error) {
      const outcome = Object.freeze({ type: 'failed', error: toErrorRecord(error) } as const);
      this.finished.push({ id: first.id, outcome });
      this.wake();
    }
  }

  private async tries(first: ToolExecution): Promise<void> {
    const { run } = this;
    const signal = this.isResumable(first) ? run.signal : this.toolSignal;
    let execution = first;
    for (;;) {
      if (run.kept.isAsked && this.hasEffect(execution) && !(await run.kept.mayAct(run))) return this.drop();
      const context = new RunningTool(run, execution, signal);
      const ended = await runTool(execution, context, run.loop).finally(() => context.end());
      if (ended === undefined) return this.drop();
      const again = ended.retryAfterSeconds;
      if (again === undefined || !(await this.mayTryAgainAfter(again))) {
        this.finished.push({ id: execution.id, ...ended });
        return this.wake();
      }
      execution = latest(run, execution).withNextAttempt(run.now());
      this.take(execution);
    }
  }

  /** Leaves a call as it is, to another process. */
  private drop(): void {
    this.running--;
    this.run.checkAbort();
    this.wake();
  }

  private isResumable({ name }: ToolExecution): boolean {
    return this.run.loop.tools.get(name)?.isResumable ?? false;
  }

  /** Waits for the next try. False when there is to be none: the run was told to stop. */
  private async mayTryAgainAfter(seconds: number): Promise<boolean> {
    const { run, toolSignal } = this;
    if (!canRunTools(run.state)) return false;
    return (await pause(run.loop.clock, seconds, toolSignal)) && canRunTools(run.state);
  }

  private async block(call: ToolCallPart, reason: string): Promise<void> {
    const error = toErrorRecord(new ToolExecutionBlockedError(call.toolName, reason));
    await this.finish(this.intended(call).withOutcome({ type: 'blocked', error }, this.run.now()));
  }

  private finish(toolExecution: ToolExecution, ended?: FinishedTool): Promise<void> | undefined {
    if (this.run.isLost()) return undefined;
    this.take(toolExecution);
    this.hasOutcome ||= this.hasEffect(toolExecution);
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

/** The execution as it stands now: a tool may have left progress or usage in it. */
function latest({ state }: RunState, { id }: { readonly id: ToolExecutionId }): ToolExecution {
  return state.currentStep?.toolExecutions.find((execution) => execution.id === id) as ToolExecution;
}

/** Waits; false when the signal aborts first. */
async function pause(clock: Clock, seconds: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return false;
  return new Promise<boolean>((resolve) => {
    const leave = (): void => {
      disarm();
      resolve(false);
    };
    signal.addEventListener('abort', leave);
    const disarm = callAfter(clock, seconds * 1000, () => {
      signal.removeEventListener('abort', leave);
      resolve(true);
    });
  });
}
