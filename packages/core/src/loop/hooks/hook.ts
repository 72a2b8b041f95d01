import type { Clock, Instant } from '../../clock.ts';
import type { AgentState } from '../../state/agent-state.ts';
import type { StopSignal } from '../../state/execution/continuation.ts';
import type { InferenceResponse } from '../../state/inference/inference-response.ts';
import type { ToolCallPart } from '../../state/messages/messages.ts';
import type { ToolExecution } from '../../state/execution/tool-execution.ts';
import type { ToolBlock } from '../../state/execution/tool-outcome.ts';
import type { InferenceRequest } from '../inference/driver.ts';

/** What a hook may return: a change or nothing, at once or later. */
export type HookResult<T> = T | undefined | void | Promise<T | undefined | void>;

/** What a hook may know beside its first argument. */
export interface HookContext {
  readonly state: AgentState;
  /** Aborts when the run is aborted, and when the step that is in progress is cut off. */
  readonly signal: AbortSignal;
  /** The loop's: give its time to the transitions of a state, and a run stays repeatable. */
  readonly clock: Clock;
  /**
   * For a hook that calls models itself: the signal of a limit that this state has used up, if it has. Ask before each
   * call, with a state that counts the calls before it (`withOtherUsage`), and make no more once there is one.
   */
  readonly checkLimits: (state: AgentState) => Promise<StopSignal | undefined>;
}

/** What a hook before a tool call may know beside the call. */
export interface ToolUseContext extends HookContext {
  /** The hooks that have blocked the call, in the order in which they were called; empty as long as none has. */
  readonly blockedBy: readonly ToolBlock[];
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
  /** The call is not run; the model reads this reason, beside those of other hooks that block it. */
  readonly block?: string;
}

/** A changed execution, state, or both. */
export interface ToolExecutionChange {
  readonly toolExecution?: ToolExecution;
  readonly state?: AgentState;
}

/** A moment at which what is in flight is cut off, and the signal that is then raised. */
export interface StepDeadline {
  readonly at: Instant;
  readonly signal: StopSignal;
}

/**
 * Takes part in a run. Every method is optional; what one returns is kept, and returning nothing changes nothing.
 * Hooks run one after another, by priority (highest first), then in the order they were registered. One that
 * throws ends the execution `failed`, with the error in its state; throwing `AgentStop` ends it `stopped`.
 *
 * Once the run is aborted, or its time is up, each hook has 5 seconds to settle; then the run goes on to its end as if the
 * hook had returned nothing. When it is `lost` it ends at once, and what hooks return is not taken.
 */
export interface Hook {
  /**
   * Names it in errors, events and recorded calls. A hook without a name goes by its place in the list of hooks, counted
   * from 1: `hook 2`.
   */
  readonly name?: string;
  /** Higher runs earlier; default 0. */
  readonly priority?: number;
  /** Once for each run, also of one that is resumed. */
  beforeExecution?(state: AgentState, context: HookContext): HookResult<AgentState>;
  /** Before a step is paid for: a stop signal raised here prevents it, whatever other hooks ask for. */
  beforeStep?(state: AgentState, context: HookContext): HookResult<AgentState>;
  beforeInference?(request: InferenceRequest, context: HookContext): HookResult<InferenceChange>;
  afterInference?(response: InferenceResponse, context: HookContext): HookResult<ResponseChange>;
  /**
   * Sees every call, also one that a hook before it has blocked: `context.blockedBy` names the hooks and their reasons. A
   * block stays: this hook can add a reason, and its change of the call is ignored.
   *
   * For a call that a person must approve both before that and after it; then it can be blocked, and a changed call is not
   * taken: what was approved is what runs.
   */
  beforeToolUse?(call: ToolCallPart, context: ToolUseContext): HookResult<ToolCallChange>;
  afterToolUse?(execution: ToolExecution, context: HookContext): HookResult<ToolExecutionChange>;
  /** The step is still `currentStep`, with all its results. */
  afterStep?(state: AgentState, context: HookContext): HookResult<AgentState>;
  /** When the execution is forced to stop before its own answer. */
  onStop?(state: AgentState, context: HookContext): HookResult<AgentState>;
  /** Once at the end, however it ended. */
  afterExecution?(state: AgentState, context: HookContext): HookResult<AgentState>;
  /** An error that ends the execution; it is in the state already. */
  onError?(error: unknown, context: HookContext): HookResult<AgentState>;
  /**
   * Asked as each step begins: until when may its inference and tools go on? At the earliest of these moments they are
   * aborted, what is finished is kept, and the signal is raised.
   */
  stepDeadline?(state: AgentState, context: HookContext): StepDeadline | undefined;
  /**
   * The signal of a limit that the state has used up, if it has: a guard is a hook with this method. The loop asks before
   * each step, ahead of all `beforeStep` hooks, and again after a `beforeStep` or `beforeInference` hook that used
   * something; hooks that make several calls ask by `context.checkLimits`. The first signal is raised and stops the step,
   * whatever other hooks ask for; the guards after it are not asked.
   */
  checkLimit?(state: AgentState, context: HookContext): HookResult<StopSignal>;
  /**
   * Asked right before a model is called, with the request as all hooks have left it. What it throws forbids the call and
   * ends the execution.
   */
  checkRequest?(request: InferenceRequest, context: HookContext): void;
}

/** The names of the points at which hooks are called. */
export type HookPoint = Exclude<
  keyof Hook,
  'name' | 'priority' | 'stepDeadline' | 'checkLimit' | 'checkRequest'
>;
