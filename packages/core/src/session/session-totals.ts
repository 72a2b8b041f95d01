import { readAmount, readCount, shapeReader, type Read } from '../document.ts';
import type { ExecutionState } from '../state/execution/execution.ts';
import type { BudgetSpent } from '../state/execution/budget.ts';
import { addCounts } from '../state/values/amounts.ts';

/** The use of all executions of a session together, the unfinished one included. */
export interface SessionTotals {
  readonly executions: number;
  readonly steps: number;
  /** Seconds of work, to the millisecond. */
  readonly seconds: number;
  /** Input and output tokens together. */
  readonly tokens: number;
  /** US dollars, to a billionth. Calls without a known cost do not count. */
  readonly cost: number;
}

export const NO_TOTALS: SessionTotals = Object.freeze({
  executions: 0,
  steps: 0,
  seconds: 0,
  tokens: 0,
  cost: 0,
});

const PER_SECOND = 1e3;
const PER_DOLLAR = 1e9;

/** Returns what an execution has used so far. */
export function totalsOf(execution: ExecutionState | undefined): SessionTotals {
  if (execution === undefined) return NO_TOTALS;
  const { stepCount: steps, workedSeconds, usage } = execution;
  return {
    executions: 1,
    steps,
    seconds: rounded(workedSeconds, PER_SECOND),
    tokens: usage.totalTokens,
    cost: rounded(usage.cost ?? 0, PER_DOLLAR),
  };
}

/** Returns the sum. No number exceeds the largest that a document can hold. */
export function sumOfTotals(left: SessionTotals, right: SessionTotals): SessionTotals {
  return Object.freeze({
    executions: addCounts(left.executions, right.executions),
    steps: addCounts(left.steps, right.steps),
    seconds: rounded(left.seconds + right.seconds, PER_SECOND),
    tokens: addCounts(left.tokens, right.tokens),
    cost: rounded(left.cost + right.cost, PER_DOLLAR),
  });
}

/** Returns what remains of totals without a part of them. No number is below 0. */
export function totalsWithout(all: SessionTotals, part: SessionTotals): SessionTotals {
  return Object.freeze({
    executions: Math.max(0, all.executions - part.executions),
    steps: Math.max(0, all.steps - part.steps),
    seconds: Math.max(0, rounded(all.seconds - part.seconds, PER_SECOND)),
    tokens: Math.max(0, all.tokens - part.tokens),
    cost: Math.max(0, rounded(all.cost - part.cost, PER_DOLLAR)),
  });
}

/** The totals as the spent part of a budget. */
export function spentOf({ steps, seconds, tokens, cost }: SessionTotals): BudgetSpent {
  return { steps, seconds, tokens, cost };
}

/** Rounds to whole units, so that sums of many amounts do not drift. */
function rounded(amount: number, unitsPerOne: number): number {
  const units = Math.round(amount * unitsPerOne);
  return Number.isSafeInteger(units) ? units / unitsPerOne : amount;
}

export const readSessionTotals: Read<SessionTotals> = shapeReader({
  executions: readCount,
  steps: readCount,
  seconds: readAmount,
  tokens: readCount,
  cost: readAmount,
});
