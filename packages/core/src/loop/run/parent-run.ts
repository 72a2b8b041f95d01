import type { Instant } from '../../clock.ts';
import type { AgentState } from '../../state/agent-state.ts';
import type { ExecutionBudget } from '../../state/execution/budget.ts';
import { stopSignal, type StopReason, type StopSignal } from '../../state/execution/continuation.ts';
import { GUARD_PRIORITY, modelIdOfState, type CostLimitOptions } from '../stopping/guards.ts';
import type { Hook, HookContext } from '../hooks/hook.ts';
import { requirePrice } from '../stopping/model-prices.ts';

/** The connection of a run to its parent, the run that executes it as a tool. */
export interface ParentRun {
  /** The depth below the outermost run: 1 for a subagent of that run. */
  readonly depth: number;
  /** The maximum depth. */
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

/**
 * A guard that stops before a step when the parent has no remaining budget. The parent's own deadlines abort the run
 * through its signal.
 */
export function parentBudget({ remaining }: ParentRun, cost: CostLimitOptions | undefined): Hook {
  const checkLimit = (state: AgentState, { state: known, clock }: HookContext): StopSignal | undefined => {
    // The parent has counted the usage up to the state of the context.
    const { totalTokens: tokens, cost: spent } = state.usage.since(known.usage);
    const budgetLeft = remaining().remaining({ tokens, ...(spent !== undefined && { cost: spent }) });
    return exhaustedLimitSignal(budgetLeft, state, clock.now());
  };
  return Object.freeze<Hook>({
    name: SOURCE,
    priority: GUARD_PRIORITY,
    checkLimit,
    checkRequest({ llmConfig }) {
      if (remaining().maxCost !== undefined)
        requirePrice(cost?.prices, (cost?.modelIdOf ?? modelIdOfState)(llmConfig));
    },
  });
}

const SOURCE = 'parentBudget';

/** The stop signal of the first exhausted limit. An open step needs no further step of the budget. */
function exhaustedLimitSignal(
  budgetLeft: ExecutionBudget,
  { stepCount, currentStep }: AgentState,
  now: Instant,
): StopSignal | undefined {
  const { maxSteps = Infinity, maxTokens = Infinity, maxSeconds = Infinity, maxCost = Infinity } = budgetLeft;
  const isPast = budgetLeft.deadline !== undefined && now >= budgetLeft.deadline;
  const found: readonly (readonly [isUsedUp: boolean, StopReason, what: string])[] = [
    [currentStep === undefined && stepCount >= maxSteps, 'stepsLimitReached', 'steps'],
    [maxTokens <= 0, 'tokenLimitReached', 'tokens'],
    [maxSeconds <= 0 || isPast, 'timeLimitReached', 'time'],
    [maxCost <= 0, 'costLimitReached', 'dollars'],
  ];
  const first = found.find(([isUsedUp]) => isUsedUp);
  if (first === undefined) return undefined;
  const [, reason, what] = first;
  const message = `The calling agent has no ${what} remaining.`;
  return stopSignal({ reason, message, source: SOURCE });
}
