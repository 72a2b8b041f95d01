import { mustBe, optionsCheck, wrongArgument } from '../../arguments.ts';
import { systemClock, toInstant, type Instant } from '../../clock.ts';
import { DocumentReader, orderedReader, readAmount, readInstant, type Read } from '../../document.ts';
import { compact } from '../../json.ts';

/** The limits of one execution. An absent limit is not enforced, except the limit of steps. */
export interface BudgetLimits {
  /** The limit of steps. Absent: 20 steps. `Infinity`: no limit. */
  readonly maxSteps?: number | undefined;
  /** Input and output tokens together. */
  readonly maxTokens?: number | undefined;
  /** Seconds of work. Time without a worker, in suspension, or of a sleep of the machine does not count. */
  readonly maxSeconds?: number | undefined;
  /** US dollars. */
  readonly maxCost?: number | undefined;
  /** The instant after which the loop starts no work. */
  readonly deadline?: Instant | undefined;
}

/** The consumed part of a budget. */
export interface BudgetSpent {
  readonly steps?: number | undefined;
  readonly tokens?: number | undefined;
  readonly seconds?: number | undefined;
  /** US dollars. */
  readonly cost?: number | undefined;
}

const LIMITS = ['maxSteps', 'maxTokens', 'maxSeconds', 'maxCost', 'deadline'] as const;
/** The number that stands for unlimited steps in documents, because JSON has no infinity. */
const ANY_NUMBER_OF_STEPS = Number.MAX_SAFE_INTEGER;
const AMOUNT = mustBe.number(0);

const checkLimits = optionsCheck<BudgetLimits>('budget', {
  maxSteps: AMOUNT,
  maxTokens: AMOUNT,
  maxSeconds: AMOUNT,
  maxCost: AMOUNT,
  deadline: mustBe.anything, // see toInstant
});

const checkSpent = optionsCheck<BudgetSpent>('budget.remaining', {
  steps: AMOUNT,
  tokens: AMOUNT,
  seconds: AMOUNT,
  cost: AMOUNT,
});

/**
 * The limits of one execution: steps, tokens, seconds, cost and a deadline. An `undefined` limit is not set. Steps are
 * unlimited only if `maxSteps` is `Infinity`: a loop stops at 20 steps if its budget does not limit them.
 * @example ExecutionBudget.of({ maxSteps: 20, maxSeconds: 60 }).remaining({ steps: 5 }).maxSteps === 15
 */
export class ExecutionBudget implements Record<keyof BudgetLimits, number | undefined> {
  readonly maxSteps: number | undefined;
  readonly maxTokens: number | undefined;
  readonly maxSeconds: number | undefined;
  readonly maxCost: number | undefined;
  readonly deadline: Instant | undefined;

  private static readonly none: ExecutionBudget = new ExecutionBudget({});
  private static readonly withoutLimits: ExecutionBudget = new ExecutionBudget({ maxSteps: Infinity });

  private constructor(limits: BudgetLimits) {
    this.maxSteps = stepLimit(limits.maxSteps);
    this.maxTokens = finite(limits.maxTokens);
    this.maxSeconds = finite(limits.maxSeconds);
    this.maxCost = finite(limits.maxCost);
    const { deadline } = limits;
    this.deadline = deadline === undefined || deadline === Infinity ? undefined : toInstant(deadline);
    Object.freeze(this);
  }

  /**
   * Returns a budget with the given limits; `Infinity` means no limit.
   * @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown limit, and for a limit that is not a number of at
   * least 0.
   */
  static of(limits: BudgetLimits): ExecutionBudget {
    if (limits instanceof ExecutionBudget) return limits;
    const budget = new ExecutionBudget(checkLimits(limits));
    if (!budget.isEmpty) return budget;
    return budget.maxSteps === undefined ? ExecutionBudget.none : ExecutionBudget.withoutLimits;
  }

  /** Returns the budget without any limit, also without a limit of steps. */
  static unlimited(): ExecutionBudget {
    return ExecutionBudget.withoutLimits;
  }

  /** True when the budget sets no limit. */
  get isEmpty(): boolean {
    return LIMITS.every((limit) => this[limit] === undefined || this[limit] === Infinity);
  }

  /** True when a limit is consumed or the deadline has passed. */
  isExhausted(now: Instant = systemClock.now()): boolean {
    if (this.deadline !== undefined && now >= this.deadline) return true;
    return LIMITS.some((limit) => limit !== 'deadline' && this[limit] !== undefined && this[limit] <= 0);
  }

  /**
   * Returns the remaining budget after some was spent; no limit is below 0. The deadline stays.
   * @throws RangeError or TypeError `ARGUMENT_INVALID` for an amount that is not a number of at least 0.
   */
  remaining(spent: BudgetSpent): ExecutionBudget {
    const { steps, tokens, seconds, cost } = checkSpent(spent);
    return ExecutionBudget.of({
      maxSteps: minus(this.maxSteps, steps),
      maxTokens: minus(this.maxTokens, tokens),
      maxSeconds: minus(this.maxSeconds, seconds),
      maxCost: minus(this.maxCost, cost),
      deadline: this.deadline,
    });
  }

  /** Returns the smaller of each two limits, and the earlier deadline. */
  cappedBy(other: ExecutionBudget): ExecutionBudget {
    if (!(other instanceof ExecutionBudget))
      throw wrongArgument(other, 'a budget, as returned by ExecutionBudget.of()');
    const limits = LIMITS.map((limit) => [limit, smaller(this[limit], other[limit])] as const);
    return ExecutionBudget.of(Object.fromEntries(limits));
  }

  toJSON(): BudgetLimits {
    return compact(toJsonLimits(this));
  }

  /** @throws StateFormatError for an invalid document. */
  static fromJSON(json: unknown): ExecutionBudget {
    return ExecutionBudget.of(DocumentReader.read(json, readBudgetLimits));
  }
}

function finite(limit: number | undefined): number | undefined {
  return limit === undefined || limit === Infinity ? undefined : limit + 0; // JSON has no minus zero
}

function stepLimit(limit: number | undefined): number | undefined {
  return limit !== undefined && limit >= ANY_NUMBER_OF_STEPS ? Infinity : finite(limit);
}

/** Returns the limits in a form that JSON can hold. */
export function toJsonLimits(limits: BudgetLimits): BudgetLimits {
  return limits.maxSteps === Infinity ? { ...limits, maxSteps: ANY_NUMBER_OF_STEPS } : { ...limits };
}

/** `JSON.stringify` writes `Infinity` as `null`, so the error message explains the limit. */
const readLimit: Read<number> = (reader, value) =>
  value === null
    ? reader.fail('a number of at least 0, or an omitted limit', value)
    : readAmount(reader, value);

export const readBudgetLimits: Read<BudgetLimits> = orderedReader({
  'maxSteps?': readLimit,
  'maxTokens?': readLimit,
  'maxSeconds?': readLimit,
  'maxCost?': readLimit,
  'deadline?': readInstant,
});

function minus(limit: number | undefined, spent: number | undefined): number | undefined {
  return limit === undefined ? undefined : Math.max(0, limit - (spent ?? 0));
}

function smaller(left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined ? right : right === undefined ? left : Math.min(left, right);
}
