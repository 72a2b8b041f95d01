import type { Instant } from '../clock.ts';
import type { AgentState } from '../state/agent-state.ts';
import type { ExecutionBudget } from '../state/execution/budget.ts';
import { stopSignal, type StopReason, type StopSignal } from '../state/execution/continuation.ts';
import type { Hook, HookContext } from '../loop/hooks/hook.ts';
import { GUARD_PRIORITY, modelIdOfState, type CostLimitOptions } from '../loop/stopping/guards.ts';
import { requirePrice } from '../loop/inference/model-prices.ts';

/**
 * A guard that stops before a step when the parent has no remaining budget. The parent's own deadlines abort the run
 * through its signal.
 */
export function parentBudget(remaining: () => ExecutionBudget, cost: CostLimitOptions | undefined): Hook {
  const checkLimit = (state: AgentState, { state: known, clock }: HookContext): StopSignal | undefined => {
    // The parent has counted the usage up to the state of the context.
    const { totalTokens: tokens, cost: spent } = state.usage.since(known.usage);
    const budgetLeft = remaining().remaining({ tokens, ...(spent !== undefined && { cost: spent }) });
    return exhaustedLimitSignal(budgetLeft, state, clock.now());
  };
  return Object.freeze<Hook>({
    name: 'parentBudget',
    priority: GUARD_PRIORITY,
    checkLimit,
    checkRequest({ llmConfig }) {
      if (remaining().maxCost !== undefined)
        requirePrice(cost?.prices, (cost?.modelIdOf ?? modelIdOfState)(llmConfig));
    },
  });
}

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
  return stopSignal({ reason, message, source: 'parentBudget' });
}
