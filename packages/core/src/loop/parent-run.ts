import type { Instant } from '../clock.ts';
import type { AgentState } from '../state/agent-state.ts';
import type { ExecutionBudget } from '../state/execution/budget.ts';
import type { StopReason, StopSignal } from '../state/execution/continuation.ts';
import { stopSignal } from '../state/execution/continuation.ts';
import type { CostLimitOptions } from './stopping/guards.ts';
import { GUARD_PRIORITY, modelIdOfState } from './stopping/guards.ts';
import type { Hook, HookContext } from './hooks/hook.ts';
import { requirePrice } from './stopping/model-prices.ts';

/** What a run that is a tool of another one has from it. */
export interface ParentRun {
  /** How far below a run that is nobody's tool: 1 for its subagents. */
  readonly depth: number;
  /** The deepest that is allowed. */
  readonly maxDepth: number;
  /**
   * What the parent has left at this moment. What this run uses is counted there as it is used, so it is not to be
   * subtracted once more; steps are not, so `maxSteps` counts from the start of this run's execution.
   */
  readonly remaining: () => ExecutionBudget;
  /** Is handed every state of the run, before listeners are told of it. */
  readonly follow: (state: AgentState) => void;
}

/** Stops before a step when the parent has nothing left. The parent's own time-outs arrive by the signal of the run. */
export function parentBudget({ remaining }: ParentRun, cost: CostLimitOptions | undefined): Hook {
  const checkLimit = (state: AgentState, { state: known, clock }: HookContext): StopSignal | undefined => {
    // The parent knows of what was used up to the state of the context.
    const { totalTokens: tokens, cost: spent } = state.usage.since(known.usage);
    const budgetLeft = remaining().remaining({ tokens, ...(spent !== undefined && { cost: spent }) });
    return exhaustedLimitSignal(budgetLeft, state.stepCount, clock.now());
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

/** The first limit that is used up. */
function exhaustedLimitSignal(
  budgetLeft: ExecutionBudget,
  stepCount: number,
  now: Instant,
): StopSignal | undefined {
  const { maxSteps = Infinity, maxTokens = Infinity, maxSeconds = Infinity, maxCost = Infinity } = budgetLeft;
  const isPast = budgetLeft.deadline !== undefined && now >= budgetLeft.deadline;
  const found: readonly (readonly [isUsedUp: boolean, StopReason, what: string])[] = [
    [stepCount >= maxSteps, 'stepsLimitReached', 'steps'],
    [maxTokens <= 0, 'tokenLimitReached', 'tokens'],
    [maxSeconds <= 0 || isPast, 'timeLimitReached', 'time'],
    [maxCost <= 0, 'costLimitReached', 'dollars'],
  ];
  const first = found.find(([isUsedUp]) => isUsedUp);
  if (first === undefined) return undefined;
  const [, reason, what] = first;
  const message = `What the calling agent had left of its ${what} is used up.`;
  return stopSignal({ reason, message, source: SOURCE });
}
