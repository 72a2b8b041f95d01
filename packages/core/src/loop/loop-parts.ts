import type { Clock } from '../clock.ts';
import { describeValue, invalidArgument } from '../errors.ts';
import { AgentState } from '../state/agent-state.ts';
import { ExecutionBudget } from '../state/execution/budget.ts';
import type { BudgetLimits } from '../state/execution/budget.ts';
import type { ToolChoice } from '../state/inference/request.ts';
import type { Checkpoint } from './checkpoint.ts';
import type { MessageCompiler } from './compile/compile-messages.ts';
import type { Driver } from './inference/driver.ts';
import type { AgentEventListener } from './events.ts';
import type { Fallback } from './inference/fallback.ts';
import type { RetryPolicy } from './inference/retry-policy.ts';
import { guardsFor } from './stopping/guards.ts';
import type { CostLimitOptions } from './stopping/guards.ts';
import type { HookChain } from './hooks/hook-chain.ts';
import { parentBudget } from './parent-run.ts';
import type { ParentRun } from './parent-run.ts';
import type { Tool } from './tools/tool.ts';

/** What a loop is made of; see `AgentLoopOptions`. */
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
  /** What a limit of cost needs, when the loop knows prices. */
  readonly cost: CostLimitOptions | undefined;
  readonly clock: Clock;
  readonly retry: RetryPolicy;
  readonly fallback: Fallback | undefined;
}

/** What is given to one run. */
export interface RunParts {
  readonly signal: AbortSignal;
  readonly listeners: readonly AgentEventListener[];
  /** What has happened since is announced. */
  readonly previousState?: AgentState | undefined;
  /** Keeps the states of the run as it goes on. */
  readonly checkpoint?: Checkpoint | undefined;
  /** The run in which this one is a tool. */
  readonly parent?: ParentRun | undefined;
}

/** The options of a run that change the loop for it. */
interface LoopChanges extends Pick<RunParts, 'parent'> {
  readonly budget?: BudgetLimits | undefined;
  readonly onExhausted?: RetryPolicy['onExhausted'];
}

/** The loop for one run of a state. @throws `ARGUMENT_INVALID` for what is not a state, and limits that cannot be. */
export function loopFor(
  state: AgentState,
  loop: LoopParts,
  { budget, parent, onExhausted }: LoopChanges,
): LoopParts {
  if (state instanceof AgentState) return withRunLimits(withRunRetry(loop, onExhausted), budget, parent);
  throw invalidArgument(`A loop runs an AgentState, found ${describeValue(state)}.`, TypeError);
}

function withRunRetry(loop: LoopParts, onExhausted: LoopChanges['onExhausted']): LoopParts {
  if (onExhausted === undefined || loop.retry.onExhausted !== undefined) return loop;
  return { ...loop, retry: { ...loop.retry, onExhausted } };
}

/** The loop for one run, within limits of its own and what its parent has left. */
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
