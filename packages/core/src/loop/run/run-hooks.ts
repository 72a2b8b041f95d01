import type { Clock, Instant } from '../../clock.ts';
import type { AgentState } from '../../state/agent-state.ts';
import { isAgentStop, type StopSignal } from '../../state/execution/continuation.ts';
import type { StatePoint } from '../hooks/hook-chain.ts';
import type { ResultOf } from '../hooks/hook-results.ts';
import type { Hook, HookContext, HookPoint, StepDeadline, TooLongContext } from '../hooks/hook.ts';
import { nextAction, rebaseToolChanges, type StepperOutcome, type Workable } from '../steps/stepper.ts';
import type { AbortKind } from '../stopping/abort.ts';
import { withinGrace } from '../stopping/grace.ts';
import type { RunSignals } from '../stopping/run-signals.ts';
import type { WorkClock } from '../stopping/work-clock.ts';
import { knownLimit } from './call-model.ts';
import type { LoopParts, RunParts } from './loop-parts.ts';

/** The part of a run that its hooks use. */
export interface HookedRun extends Workable {
  readonly loop: Pick<LoopParts, 'hooks' | 'clock' | 'toolList' | 'modelIdOf' | 'cost'>;
  readonly given: Pick<RunParts, 'runContext'>;
  readonly state: AgentState;
  readonly signals: RunSignals;
  readonly clock: WorkClock;
  now(): Instant;
  advance(outcome: StepperOutcome): void;
  change(state: AgentState): void;
  /** Applies the change that a hook made to `base`, by default the present state. */
  changeByHook(changed: AgentState, base?: AgentState): void;
  raise(signal: StopSignal): void;
  raiseOnce(signal: StopSignal | undefined): boolean;
  /** Records an abort, once, and returns its kind. */
  checkAbort(): AbortKind | undefined;
  /** True when work that costs time or money may start. */
  mayBegin(): boolean;
}

/** The points whose hooks may call models before the call of the loop. */
const MAY_USE_TOKENS: ReadonlySet<HookPoint> = new Set(['beforeStep', 'beforeInference', 'onContextTooLong']);

/** The facts that only `onContextTooLong` hooks receive. */
export type TooLongFacts = Pick<TooLongContext, 'maxTokens' | 'reportFailure'>;

type ChangePoint = 'beforeInference' | 'afterInference' | 'beforeToolUse' | 'afterToolUse';

/** Calls the hooks of one run, and applies the states that they return. */
export class RunHooks {
  private readonly run: HookedRun;

  constructor(run: HookedRun) {
    this.run = run;
  }

  /** Calls the hooks of a point in order. Returns a promise only when one of them does. */
  callAll(point: StatePoint, from = 0): Promise<void> | undefined {
    const { run } = this;
    const hooks = run.loop.hooks.at(point);
    for (let index = from; index < hooks.length; index++) {
      const result = this.call(hooks[index] as Hook, point, run.state);
      const pending =
        result instanceof Promise
          ? result.then((state) => this.accept(point, state))
          : this.accept(point, result);
      if (pending)
        return pending.then(() => (run.signals.isAbandoned() ? undefined : this.callAll(point, index + 1)));
    }
    return undefined;
  }

  /** Calls the hooks of a point in order. A hook that throws does not prevent the next one. */
  async callEach(point: StatePoint): Promise<void> {
    const { run } = this;
    for (const hook of run.loop.hooks.at(point)) {
      if (run.signals.isAbandoned()) return;
      try {
        const state = await this.call(hook, point, run.state);
        if (state) run.changeByHook(state);
      } catch (error) {
        await this.recordThrown(error);
      }
    }
  }

  /** Calls the hooks that can shorten what the compiler selects to a number of tokens. */
  async callTooLong({ maxTokens, reportFailure }: TooLongFacts): Promise<void> {
    const { run } = this;
    for (const hook of run.loop.hooks.at('onContextTooLong')) {
      if (run.signals.isAbandoned()) return;
      const context: TooLongContext = { ...this.context, maxTokens, reportFailure };
      await this.accept('onContextTooLong', await this.call(hook, 'onContextTooLong', run.state, context));
    }
  }

  /** Passes a value through the hooks of a point. `next` returns the value after the change of a hook. */
  async pass<P extends ChangePoint, T>(
    point: P,
    value: T,
    next: (value: T, change: ResultOf<P> | undefined) => T,
  ): Promise<T> {
    let current = value;
    for (const hook of this.run.loop.hooks.at(point)) {
      if (this.run.signals.isAbandoned()) break;
      current = next(current, await this.change(hook, point, current));
    }
    return current;
  }

  /** Calls a hook and applies the state that it returns. `facts` are further members of its context. */
  async change<P extends ChangePoint>(
    hook: Hook,
    point: P,
    subject: unknown,
    facts?: object,
  ): Promise<ResultOf<P> | undefined> {
    const context = { ...this.context, ...facts };
    const change = await this.call(hook, point, subject, context);
    const pending = this.accept(point, change?.state, context.state);
    if (pending) await pending;
    return change;
  }

  /**
   * Calls a hook. Returns a promise only when the hook does. The promise resolves to `undefined` when the hook does not
   * settle within its grace after an abort.
   */
  private call<P extends HookPoint>(
    hook: Hook,
    point: P,
    subject: unknown,
    context: HookContext = this.context,
  ): ResultOf<P> | undefined | Promise<ResultOf<P> | undefined> {
    const result = this.run.loop.hooks.call(hook, point, subject, context);
    return result instanceof Promise ? this.inTime(result) : result;
  }

  private inTime<T>(promise: Promise<T | undefined>): Promise<T | undefined> {
    const { run } = this;
    const { clock } = run;
    // Between steps, no timer aborts the signal.
    const until = run.signals.isArmed ? undefined : this.stepDeadline()?.at;
    const onTimeout = (): undefined => {
      if (!run.state.execution?.isTerminal) run.checkAbort();
    };
    return withinGrace(promise, { signal: run.signals.current, until, clock, onTimeout });
  }

  private accept(
    point: HookPoint,
    state: AgentState | undefined,
    base?: AgentState,
  ): Promise<unknown> | undefined {
    if (state === undefined) return undefined;
    if (MAY_USE_TOKENS.has(point)) return this.changeBeforeCall(state);
    this.run.changeByHook(state, base);
    return undefined;
  }

  // Limits

  /**
   * Applies the change that a hook made before a call of a model. When the hook used tokens, the limits are checked
   * again, unless the step is already stopped. Returns a promise only when a guard does.
   */
  private changeBeforeCall(state: AgentState): Promise<unknown> | undefined {
    const { run } = this;
    const before = run.state.execution?.otherUsage;
    run.changeByHook(state);
    if (run.state.execution?.otherUsage === before || !run.mayBegin()) return undefined;
    const { type } = nextAction(run.state);
    const limitsChecked = (type === 'beginStep' || type === 'infer') && this.enforceLimits();
    return limitsChecked instanceof Promise ? limitsChecked : undefined;
  }

  /**
   * Stops the execution by the first limit that is used up, and returns true if there is one. Returns a promise only
   * when a guard does.
   */
  enforceLimits(): boolean | Promise<boolean> {
    const { run } = this;
    const found = run.loop.hooks.checkLimits(run.state, this.context);
    if (found instanceof Promise) return this.inTime(found).then((signal) => run.raiseOnce(signal));
    return run.raiseOnce(found);
  }

  /** The earliest deadline that hooks set for a step that begins now, by a clock. */
  stepDeadline(clock: Clock = this.run.loop.clock): StepDeadline | undefined {
    return this.run.loop.hooks.stepDeadline({ ...this.context, clock });
  }

  get context(): HookContext {
    const { state, signals, loop, given } = this.run;
    return {
      state,
      signal: signals.current,
      clock: loop.clock,
      runContext: given.runContext,
      tools: loop.toolList,
      prices: loop.cost?.prices,
      maxTokens: knownLimit(this.run, state.llmConfig),
      checkLimits: (changed) => this.checkLimits(state, changed),
    };
  }

  private async checkLimits(base: AgentState, changed: AgentState): Promise<StopSignal | undefined> {
    const { run } = this;
    const state = rebaseToolChanges(run.state, base, changed, run.now());
    return run.loop.hooks.checkLimits(state, this.context);
  }

  // Errors

  /**
   * Records a thrown value in the state: an `AgentStop` as a stop signal, any other value as an error. Then calls
   * OnError hooks for an error.
   */
  async recordThrown(thrown: unknown): Promise<void> {
    const { run } = this;
    if (run.signals.isAbandoned()) return;
    const isOver = run.state.execution?.isTerminal;
    if (isAgentStop(thrown)) {
      run.raise(thrown.signal);
      if (isOver) run.advance({ type: 'finished', at: run.now() });
      return;
    }
    if (isOver) run.change(run.state.withFailure(thrown, run.now()));
    else run.advance({ type: 'failed', error: thrown, at: run.now() });
    for (const hook of run.loop.hooks.at('onError')) {
      if (run.signals.isAbandoned()) return;
      try {
        const state = await this.call(hook, 'onError', thrown);
        if (state) run.changeByHook(state);
      } catch (secondError) {
        if (isAgentStop(secondError)) run.raise(secondError.signal);
        else run.change(run.state.withError(secondError, run.now()));
      }
    }
  }
}
