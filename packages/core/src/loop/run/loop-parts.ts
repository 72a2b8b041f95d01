import type { Clock } from '../../clock.ts';
import { describeValue, invalidArgument } from '../../errors.ts';
import { AgentState } from '../../state/agent-state.ts';
import { ExecutionBudget, type BudgetLimits } from '../../state/execution/budget.ts';
import type { ToolChoice } from '../../state/inference/request.ts';
import type { Checkpoint } from '../steps/checkpoint.ts';
import type { MessageCompiler } from '../compile/compile-messages.ts';
import type { Driver } from '../inference/driver.ts';
import type { AgentEventListener, EventSession } from '../steps/events.ts';
import type { Fallback } from '../inference/fallback.ts';
import type { RetryPolicy } from '../inference/retry-policy.ts';
import { guardsFor, type CostLimitOptions } from '../stopping/guards.ts';
import type { ModelIdOf } from '../inference/model-prices.ts';
import type { Hook } from '../hooks/hook.ts';
import type { HookChain } from '../hooks/hook-chain.ts';
import type { Reduction } from '../inference/context-limit.ts';
import type { ResultLimits } from '../tools/result-size.ts';
import { requireRunContext } from '../tools/run-context.ts';
import type { Tool } from '../tools/tool-types.ts';

/** The parts of a loop; see `AgentLoopOptions`. */
export interface LoopParts {
  readonly driver: Driver;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly toolList: readonly Tool[];
  readonly toolChoice: ToolChoice;
  readonly hooks: HookChain;
  readonly compile: MessageCompiler;
  readonly toolErrors: 'continue' | 'fail';
  readonly maxParallelTools: number;
  readonly maxResultLength: number;
  readonly resultLimits: ResultLimits;
  readonly finalStep: 'answer' | undefined;
  readonly whenTooLong: readonly Reduction[];
  readonly budget: ExecutionBudget;
  /** Returns the id of the model that a call with these settings goes to. */
  readonly modelIdOf: ModelIdOf;
  /** The prices for a cost limit, when the loop has prices. */
  readonly cost: Required<CostLimitOptions> | undefined;
  readonly clock: Clock;
  readonly retry: RetryPolicy;
  readonly fallback: Fallback | undefined;
}

export interface RunOptions<Context = unknown> {
  /**
   * Aborts the run. A `RunAbort` as the reason determines what the abort means; any other reason cancels the execution.
   */
  readonly signal?: AbortSignal | undefined;
  /** Receives the events of this run. */
  readonly onEvent?: AgentEventListener | undefined;
  /** Limits of this run besides those of the loop, counted in the same way. The tighter limit applies. */
  readonly budget?: BudgetLimits | undefined;
  /** An earlier version of the state. The run also announces the changes since then, such as a denied call. */
  readonly previousState?: AgentState | undefined;
  /** Saves the states of the run while it continues. */
  readonly checkpoint?: Checkpoint | undefined;
  /** The `onExhausted` of this run, when the loop's `inferenceRetry` sets none. */
  readonly onExhausted?: 'suspend' | 'fail' | undefined;
  /**
   * The value that tools, hooks and `needsApproval` of this run receive, such as the user and the clients of a request.
   * It is in no state, event or error, and no model sees it.
   */
  readonly runContext?: Context | undefined;
}

/** The connection of a run to its parent, the run that executes it as a tool. */
export interface ParentRun {
  /** The depth below the outermost run: 1 for a subagent of that run. */
  readonly depth: number;
  readonly maxDepth: number;
  /**
   * The remaining budget of the parent. It already includes the usage of this run, which counts there as it occurs, so
   * do not subtract that usage again. Steps do not count there: `maxSteps` counts from the start of this run's
   * execution.
   */
  readonly remaining: () => ExecutionBudget;
  /** Receives every state of the run before listeners receive its events. */
  readonly follow: (state: AgentState) => void;
}

/** The options of a run, with those that only the framework sets. */
export interface InternalRunOptions extends RunOptions {
  /** The run that executes this run as a tool. */
  readonly parent?: ParentRun | undefined;
  /** Returns the session that the run works for, which its events show. */
  readonly session?: (() => EventSession) | undefined;
  /** Returns a promise while the reader of the run's events is behind. */
  readonly awaitReader?: (() => Promise<void> | undefined) | undefined;
  /** Changes the guards of `budget`. */
  readonly changeGuards?: ((guards: readonly Hook[], cost?: CostLimitOptions) => readonly Hook[]) | undefined;
  /** Returns the room in the store of the session for the calls of the open step: see `ResultLimits`. */
  readonly stepBytes?: ResultLimits['stepBytes'];
}

/** The parts of one run. */
export interface RunParts extends Omit<InternalRunOptions, 'signal' | 'onEvent'> {
  readonly signal: AbortSignal;
  readonly listeners: readonly AgentEventListener[];
}

/**
 * The loop for one run of a state. @throws `ARGUMENT_INVALID` for a value that is not a state, and for invalid limits;
 * `RUN_CONTEXT_MISSING`.
 */
export function loopFor(state: AgentState, loop: LoopParts, options: InternalRunOptions): LoopParts {
  const { onExhausted, runContext } = options;
  if (!(state instanceof AgentState))
    throw invalidArgument(`A loop runs an AgentState, found ${describeValue(state)}.`, TypeError);
  requireRunContext(loop.toolList, runContext);
  const stored = withStoreLimit(withRunRetry(loop, onExhausted), options.stepBytes);
  return withRunLimits(stored, options);
}

function withRunRetry(loop: LoopParts, onExhausted: RunOptions['onExhausted']): LoopParts {
  if (onExhausted === undefined || loop.retry.onExhausted !== undefined) return loop;
  return { ...loop, retry: { ...loop.retry, onExhausted } };
}

/** The loop for one run whose state a store keeps. */
function withStoreLimit(loop: LoopParts, stepBytes: ResultLimits['stepBytes']): LoopParts {
  return stepBytes === undefined ? loop : { ...loop, resultLimits: { ...loop.resultLimits, stepBytes } };
}

/** The loop for one run, with the limits of the run. */
function withRunLimits(loop: LoopParts, options: InternalRunOptions): LoopParts {
  const { budget = {}, changeGuards } = options;
  const limits = ExecutionBudget.of(budget);
  const ofBudget = guardsFor(limits, loop.cost);
  const guards = changeGuards?.(ofBudget, loop.cost) ?? ofBudget;
  if (guards.length === 0) return loop;
  return {
    ...loop,
    hooks: loop.hooks.with(guards),
    budget: loop.budget.cappedBy(limits),
  };
}
