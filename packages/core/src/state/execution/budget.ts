import { describeValue, invalidArgument } from '../../errors.ts';
import type { Instant } from '../../clock.ts';
import { systemClock, toInstant } from '../../clock.ts';
import type { Read } from '../../json.ts';
import { compact, DocumentReader, readAmount, readInstant } from '../../json.ts';
import { requireObject, wrongArgument } from '../values/require-argument.ts';

/** The limits of one execution. What is absent is not limited. */
export interface BudgetLimits {
  readonly maxSteps?: number | undefined;
  /** Input and output tokens together. */
  readonly maxTokens?: number | undefined;
  /** Seconds worked on; waiting and being dead do not count. */
  readonly maxSeconds?: number | undefined;
  /** US dollars. */
  readonly maxCost?: number | undefined;
  /** A moment after which no work is begun. */
  readonly deadline?: Instant | undefined;
}

/** What was used up so far. */
export interface BudgetSpent {
  readonly steps?: number | undefined;
  readonly tokens?: number | undefined;
  readonly seconds?: number | undefined;
  /** US dollars. */
  readonly cost?: number | undefined;
}

const LIMITS = ['maxSteps', 'maxTokens', 'maxSeconds', 'maxCost', 'deadline'] as const;
const SPENT = ['steps', 'tokens', 'seconds', 'cost'] as const satisfies readonly (keyof BudgetSpent)[];
const NAMES: ReadonlySet<string> = new Set(LIMITS);

/**
 * How much one execution may use: steps, tokens, seconds, money, and a deadline.
 * @example ExecutionBudget.of({ maxSteps: 20, maxSeconds: 60 }).remaining({ steps: 5 }).maxSteps === 15
 */
export class ExecutionBudget implements Record<keyof BudgetLimits, number | undefined> {
  readonly maxSteps: number | undefined;
  readonly maxTokens: number | undefined;
  readonly maxSeconds: number | undefined;
  readonly maxCost: number | undefined;
  readonly deadline: Instant | undefined;

  private static readonly none: ExecutionBudget = new ExecutionBudget({});

  private constructor(limits: BudgetLimits) {
    this.maxSteps = finite(limits.maxSteps);
    this.maxTokens = finite(limits.maxTokens);
    this.maxSeconds = finite(limits.maxSeconds);
    this.maxCost = finite(limits.maxCost);
    const { deadline } = limits;
    this.deadline = deadline === undefined || deadline === Infinity ? undefined : toInstant(deadline);
    Object.freeze(this);
  }

  /**
   * A budget of the given limits; `Infinity` is no limit.
   * @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown limit, or one that is not a number of at least 0.
   */
  static of(limits: BudgetLimits): ExecutionBudget {
    if (limits instanceof ExecutionBudget) return limits;
    requireObject(limits, 'limits: an object');
    for (const [name, limit] of Object.entries(limits)) {
      if (!NAMES.has(name)) {
        throw invalidArgument(`A limit is one of ${LIMITS.join(', ')}, found "${name}".`);
      }
      if (limit !== undefined && name !== 'deadline') requireAmount(name, limit);
    }
    const budget = new ExecutionBudget(limits);
    return budget.isEmpty ? ExecutionBudget.none : budget;
  }

  /** No limit at all. */
  static unlimited(): ExecutionBudget {
    return ExecutionBudget.none;
  }

  /** True when nothing is limited. */
  get isEmpty(): boolean {
    return LIMITS.every((limit) => this[limit] === undefined);
  }

  /** True when a limit is used up or the deadline has passed. */
  isExhausted(now: Instant = systemClock.now()): boolean {
    if (this.deadline !== undefined && now >= this.deadline) return true;
    return LIMITS.some((limit) => limit !== 'deadline' && this[limit] !== undefined && this[limit] <= 0);
  }

  /**
   * What is left after some was spent; never below 0. The deadline stays.
   * @throws RangeError or TypeError `ARGUMENT_INVALID` for an amount that is not a number of at least 0.
   */
  remaining(spent: BudgetSpent): ExecutionBudget {
    requireObject(spent, 'what was spent: an object');
    for (const name of SPENT) if (spent[name] !== undefined) requireAmount(name, spent[name]);
    return ExecutionBudget.of({
      maxSteps: minus(this.maxSteps, spent.steps),
      maxTokens: minus(this.maxTokens, spent.tokens),
      maxSeconds: minus(this.maxSeconds, spent.seconds),
      maxCost: minus(this.maxCost, spent.cost),
      deadline: this.deadline,
    });
  }

  /** The tighter of the two, limit by limit; the earlier deadline. */
  cappedBy(other: ExecutionBudget): ExecutionBudget {
    if (!(other instanceof ExecutionBudget))
      throw wrongArgument(other, 'a budget as ExecutionBudget.of() gives it');
    const limits = LIMITS.map((limit) => [limit, smaller(this[limit], other[limit])] as const);
    return ExecutionBudget.of(Object.fromEntries(limits));
  }

  toJSON(): BudgetLimits {
    return compact({ ...this });
  }

  /** @throws StateFormatError when the document does not fit. */
  static fromJSON(json: unknown): ExecutionBudget {
    return DocumentReader.read(json, ExecutionBudget.read);
  }

  /** @internal */
  static readonly read: Read<ExecutionBudget> = (reader, value) =>
    ExecutionBudget.of(readBudgetLimits(reader, value));
}

function finite(limit: number | undefined): number | undefined {
  return limit === undefined || limit === Infinity ? undefined : limit + 0; // JSON has no minus zero
}

function requireAmount(name: string, amount: unknown): void {
  if (typeof amount === 'number' && amount >= 0) return;
  throw invalidArgument(`${name} must be a number of at least 0, found ${describeValue(amount)}.`);
}

/** Reads limits. Equal ones come out with their members in the same order. @internal */
export const readBudgetLimits: Read<BudgetLimits> = (reader, value) => {
  const members = reader.members(value, NAMES);
  return compact({
    maxSteps: reader.optional(members, 'maxSteps', readLimit),
    maxTokens: reader.optional(members, 'maxTokens', readLimit),
    maxSeconds: reader.optional(members, 'maxSeconds', readLimit),
    maxCost: reader.optional(members, 'maxCost', readLimit),
    deadline: reader.optional(members, 'deadline', readInstant),
  });
};

/** What was `Infinity` arrives as null: JSON has no other word for it. */
const readLimit: Read<number> = (reader, value) =>
  value === null ? reader.fail('a number of at least 0, or no such limit', value) : readAmount(reader, value);

function minus(limit: number | undefined, spent: number | undefined): number | undefined {
  return limit === undefined ? undefined : Math.max(0, limit - (spent ?? 0));
}

function smaller(left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined ? right : right === undefined ? left : Math.min(left, right);
}
