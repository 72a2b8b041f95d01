import type { Clock, Instant } from '../../clock.ts';
import type { AgentState } from '../../state/agent-state.ts';
import type { StopSignal } from '../../state/execution/continuation.ts';
import type { InferenceResponse } from '../../state/inference/inference-response.ts';
import type { ToolCallPart } from '../../state/messages/messages.ts';
import type { ToolExecution } from '../../state/tools/tool-execution.ts';
import type { ToolBlock } from '../../state/tools/tool-outcome.ts';
import type { InferenceRequest, ToolDescription } from '../inference/driver.ts';
import type { ModelPrices } from '../inference/model-prices.ts';

/** The result of a hook: a change or `undefined`, at once or as a promise. */
export type HookResult<T> = T | undefined | void | Promise<T | undefined | void>;

/** The facts that a hook receives besides its first argument. */
export interface HookContext<Context = unknown> {
  readonly state: AgentState;
  /** Aborts when the run is aborted, and at the deadline of the current step. */
  readonly signal: AbortSignal;
  /** The clock of the loop. Pass its time to the transitions of a state, so that a run stays repeatable. */
  readonly clock: Clock;
  /** The run context: the value that the caller passed to the run. `undefined` when the caller passed none. */
  readonly runContext: Context;
  /** The tools of the loop, as models receive them. */
  readonly tools: readonly ToolDescription[];
  /** The prices of the loop, when it has prices. */
  readonly prices?: ModelPrices | undefined;
  /**
   * The number of tokens that a request may have, prompt and tools included, by the estimate of the loop. `undefined` while
   * the model has refused no request of the session as too long.
   */
  readonly maxTokens?: number | undefined;
  /**
   * For a hook that calls models itself: returns the stop signal of a limit that this state has used up, if there is
   * one. Call it before each call of a model, with a state that counts the earlier calls (`withOtherUsage`). After a
   * signal, make no further calls.
   */
  readonly checkLimits: (state: AgentState) => Promise<StopSignal | undefined>;
}

/** The facts that a `beforeToolUse` hook receives besides the call. */
export interface ToolUseContext<Context = unknown> extends HookContext<Context> {
  /** The hooks that blocked the call, in the order in which they were called; empty while no hook has blocked it. */
  readonly blockedBy: readonly ToolBlock[];
}

/** The facts that an `onContextTooLong` hook receives besides the state. */
export interface TooLongContext<Context = unknown> extends HookContext<Context> {
  readonly maxTokens: number;
  /**
   * Tells the loop which error kept the hook from shortening the request. When no other way helps, the loop treats an error that
   * may pass as the failure of a call: it repeats, waits or fails as `inferenceRetry` says.
   */
  readonly reportFailure: (error: unknown) => void;
}

/** A changed request, state, or both. */
export interface InferenceChange {
  readonly request?: InferenceRequest;
  readonly state?: AgentState;
}

/** A changed response, state, or both. */
export interface ResponseChange {
  readonly response?: InferenceResponse;
  readonly state?: AgentState;
}

/** A changed call or state, or a reason why the call must not run. */
export interface ToolCallChange {
  /** Ignored once the call is blocked. */
  readonly call?: ToolCallPart;
  readonly state?: AgentState;
  /** Blocks the call: it does not run, and the model reads this reason and those of other hooks that block it. */
  readonly block?: string;
}

/** A changed execution, state, or both. */
export interface ToolExecutionChange {
  readonly toolExecution?: ToolExecution;
  readonly state?: AgentState;
}

/** The instant at which the loop aborts the work of a step, and the stop signal that it then raises. */
export interface StepDeadline {
  readonly at: Instant;
  readonly signal: StopSignal;
}

/**
 * Takes part in a run. Every method is optional. The result of a method replaces what it received; `undefined` changes
 * nothing. Hooks run one after another, by priority (highest first), then in the order of the list. A hook that throws
 * ends the execution `failed`, with the error in its state; `AgentStop` ends it `stopped`.
 *
 * After an abort of the run, or at the step deadline, each hook has 5 seconds of grace to settle. Then the run
 * continues to its end as if the hook had returned `undefined`. A `lost` run ends at once and ignores the results of
 * hooks.
 *
 * `Context` is the type of the run context that the hook needs. A hook without that type fits every loop.
 */
export interface Hook<in Context = unknown> {
  /**
   * Names the hook in errors, events and recorded calls. A hook without a name is named after its position in the list
   * of hooks, which counts from 1: `hook 2`.
   */
  readonly name?: string;
  /** Hooks with a higher priority run earlier; default 0. */
  readonly priority?: number;
  /** Called once for each run, including a run that resumes an execution. */
  beforeExecution?(state: AgentState, context: HookContext<Context>): HookResult<AgentState>;
  /**
   * Called before the cost of a step arises. A stop signal that is raised here prevents the step, whatever other hooks
   * request.
   */
  beforeStep?(state: AgentState, context: HookContext<Context>): HookResult<AgentState>;
  beforeInference?(request: InferenceRequest, context: HookContext<Context>): HookResult<InferenceChange>;
  /**
   * Called when the provider refused the request of the open step as too long, once in a step. Return a state of which the
   * compiler selects less: the loop compiles it, and repeats the call. See `whenTooLong` of the loop.
   */
  onContextTooLong?(state: AgentState, context: TooLongContext<Context>): HookResult<AgentState>;
  afterInference?(response: InferenceResponse, context: HookContext<Context>): HookResult<ResponseChange>;
  /**
   * Called for every call, including one that an earlier hook blocked: `context.blockedBy` lists the hooks and their
   * reasons. A block is final: a later hook can add a reason, and its change of the call is ignored.
   *
   * A call that a person must approve reaches this hook twice: before the request and after the approval. After the
   * approval the hook can block the call, and its change of the call is ignored: the approved call is the one that
   * runs.
   */
  beforeToolUse?(call: ToolCallPart, context: ToolUseContext<Context>): HookResult<ToolCallChange>;
  afterToolUse?(execution: ToolExecution, context: HookContext<Context>): HookResult<ToolExecutionChange>;
  /** Called while the step is still `currentStep`, with all its results. */
  afterStep?(state: AgentState, context: HookContext<Context>): HookResult<AgentState>;
  /** Called when a forced stop ends the execution before its final response. */
  onStop?(state: AgentState, context: HookContext<Context>): HookResult<AgentState>;
  /** Called once at the end of the execution, with any status. */
  afterExecution?(state: AgentState, context: HookContext<Context>): HookResult<AgentState>;
  /** Called with an error that ends the execution; the state already contains it. */
  onError?(error: unknown, context: HookContext<Context>): HookResult<AgentState>;
  /**
   * Called at the start of each step; returns the deadline of its inference and tools. At the earliest deadline of all
   * hooks, the loop aborts the work, records completed results, and raises the signal. Called again when the machine has slept
   * meanwhile, with a clock that left the sleep out.
   */
  stepDeadline?(state: AgentState, context: HookContext<Context>): StepDeadline | undefined;
  /**
   * Returns the signal of a limit that the state has used up, if there is one; a hook with this method is a guard. The
   * loop calls it before each step, ahead of all `beforeStep` hooks, and again before another call of the model in an
   * open step, and after a `beforeStep` or `beforeInference` hook that used tokens. Hooks with several model calls use
   * `context.checkLimits`. The loop raises the first signal, which stops the step whatever other hooks request; later
   * guards are not called. In an open step, a signal with the reason `stepsLimitReached` is ignored: the step counts
   * already.
   */
  checkLimit?(state: AgentState, context: HookContext<Context>): HookResult<StopSignal>;
  /**
   * Called right before a call of a model, with the request after all hooks. An error that this method throws prevents
   * the call and ends the execution.
   */
  checkRequest?(request: InferenceRequest, context: HookContext<Context>): void;
}

/** The names of the hook points. */
export type HookPoint = Exclude<
  keyof Hook,
  'name' | 'priority' | 'stepDeadline' | 'checkLimit' | 'checkRequest'
>;
