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
import type { HookChain } from '../hooks/hook-chain.ts';
import { parentBudget, type ParentRun } from './parent-run.ts';
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
  readonly budget: ExecutionBudget;
  /** The prices for a cost limit, when the loop has prices. */
  readonly cost: CostLimitOptions | undefined;
  readonly clock: Clock;
  readonly retry: RetryPolicy;
  readonly fallback: Fallback | undefined;
}

/** The parts of one run. */
export interface RunParts {
  readonly signal: AbortSignal;
  readonly listeners: readonly AgentEventListener[];
  /** The run announces the changes since this state. */
  readonly previousState?: AgentState | undefined;
  /** Saves the states of the run while it continues. */
  readonly checkpoint?: Checkpoint | undefined;
  /** The run that executes this run as a tool. */
  readonly parent?: ParentRun | undefined;
  /** The value for tools and hooks. */
  readonly runContext?: unknown;
  /** Returns the session of the run, for events. */
  readonly session?: (() => EventSession) | undefined;
  /** Returns a promise while the reader of the run's events is behind. */
  readonly awaitReader?: (() => Promise<void> | undefined) | undefined;
}

/** The options of a run that change its loop. */
interface LoopChanges extends Pick<RunParts, 'parent' | 'runContext'> {
  readonly budget?: BudgetLimits | undefined;
  readonly onExhausted?: RetryPolicy['onExhausted'];
}

/**
 * The loop for one run of a state. @throws `ARGUMENT_INVALID` for a value that is not a state, and for invalid limits;
 * `RUN_CONTEXT_MISSING`.
 */
export function loopFor(
  state: AgentState,
  loop: LoopParts,
  { budget, parent, onExhausted, runContext }: LoopChanges,
): LoopParts {
  if (!(state instanceof AgentState))
    throw invalidArgument(`A loop runs an AgentState, found ${describeValue(state)}.`, TypeError);
  requireRunContext(loop.toolList, runContext);
  return withRunLimits(withRunRetry(loop, onExhausted), budget, parent);
}

function withRunRetry(loop: LoopParts, onExhausted: LoopChanges['onExhausted']): LoopParts {
  if (onExhausted === undefined || loop.retry.onExhausted !== undefined) return loop;
  return { ...loop, retry: { ...loop.retry, onExhausted } };
}

/** The loop for one run, with the limits of the run and the remaining budget of its parent. */
function withRunLimits(loop: LoopParts, budget: BudgetLimits = {}, parent?: ParentRun): LoopParts {
  const limits = ExecutionBudget.of(budget);
  const guards = [...guardsFor(limits, loop.cost), ...(parent ? [parentBudget(parent, loop.cost)] : [])];
  if (guards.length === 0) return loop;
  return {
    ...loop,
    hooks: loop.hooks.with(guards),
    budget: loop.budget.cappedBy(limits),
  };
}
