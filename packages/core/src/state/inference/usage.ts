import {
  DocumentReader,
  readAmount,
  readCount,
  readNonEmpty,
  readShape,
  shapeOf,
  type Read,
  type Shape,
} from '../../document.ts';
import { isPlainObject } from '../../json.ts';
import { addAmounts, addCounts } from '../values/amounts.ts';
import { checkedCopy, wrongArgument } from '../../arguments.ts';

/** The reported numbers. A number that was not reported is absent, which differs from 0. */
export interface UsageFields {
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  /** The part of the input that the provider read from its cache. */
  readonly cacheReadTokens?: number | undefined;
  /** The part of the input that the provider wrote to its cache. */
  readonly cacheWriteTokens?: number | undefined;
  /** The part of the output that was reasoning. */
  readonly reasoningTokens?: number | undefined;
  /** US dollars. */
  readonly cost?: number | undefined;
  /** How many calls in this sum did not report their tokens. */
  readonly unreportedCalls?: number | undefined;
  /** How many calls in this sum have no known cost. */
  readonly unpricedCalls?: number | undefined;
}

/** The reported numbers of one call. The counts of unknown numbers derive from them. */
export type CallUsage = Omit<UsageFields, 'unreportedCalls' | 'unpricedCalls'>;

/** The usage of one call, or the sum of many. */
export class Usage implements Readonly<Record<keyof UsageFields, number | undefined>> {
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  readonly cacheReadTokens: number | undefined;
  readonly cacheWriteTokens: number | undefined;
  readonly reasoningTokens: number | undefined;
  readonly cost: number | undefined;
  readonly unreportedCalls: number;
  /** How many calls in this sum have no known cost: `cost` is then a lower bound, or unknown. */
  readonly unpricedCalls: number;

  /** Zero usage: no call. */
  static readonly none: Usage = new Usage({});
  /** The usage of one call that reported nothing. */
  static readonly unreported: Usage = new Usage({ unreportedCalls: 1, unpricedCalls: 1 });

  private constructor(fields: UsageFields) {
    this.inputTokens = fields.inputTokens;
    this.outputTokens = fields.outputTokens;
    this.cacheReadTokens = fields.cacheReadTokens;
    this.cacheWriteTokens = fields.cacheWriteTokens;
    this.reasoningTokens = fields.reasoningTokens;
    this.cost = fields.cost;
    this.unreportedCalls = fields.unreportedCalls ?? 0;
    this.unpricedCalls = fields.unpricedCalls ?? 0;
    Object.freeze(this);
  }

  /**
   * Returns the usage of one call. Without input or output tokens the call is unreported, without cost unpriced.
   * @throws HoldfastError `CONTEXT_INVALID` for an invalid count of tokens or amount of money.
   */
  static of(fields: CallUsage): Usage {
    return new Usage(plainUsage(fields) ?? withUnknowns(checkedCopy('usage', fields, readCallUsage)));
  }

  /** Returns the estimated usage of a call that reported nothing. It counts as unreported. @internal */
  static estimated({ inputTokens, outputTokens }: CallUsage): Usage {
    return new Usage({ inputTokens, outputTokens, unreportedCalls: 1, unpricedCalls: 1 });
  }

  /** The input and output tokens together. */
  get totalTokens(): number {
    return addCounts(this.inputTokens ?? 0, this.outputTokens ?? 0);
  }

  /** True when the cost of every call is known. */
  get isPriced(): boolean {
    return this.unpricedCalls === 0;
  }

  /** True when every call reported its tokens. Otherwise the numbers include estimates. */
  get isComplete(): boolean {
    return this.unreportedCalls === 0;
  }

  /**
   * Returns the sum. A number that neither side knows stays unknown. A sum that is too large to read back becomes the
   * largest valid number. @throws TypeError `ARGUMENT_INVALID` for a value that is not a `Usage`.
   */
  plus(other: Usage): Usage {
    requireUsage(other);
    if (other === Usage.none) return this;
    if (this === Usage.none) return other;
    const total: Summed = { ...NOTHING_USED };
    addTo(total, this);
    addTo(total, other);
    return new Usage(total);
  }

  /** Returns the sum of many usages, added to a sum. @internal */
  static sumOf(all: Iterable<{ readonly usage: Usage }>, before: Usage = Usage.none): Usage {
    let sum: Summed | undefined;
    if (before !== Usage.none) addTo((sum = { ...NOTHING_USED }), before);
    for (const { usage } of all) if (usage !== Usage.none) addTo((sum ??= { ...NOTHING_USED }), usage);
    return sum ? new Usage(sum) : Usage.none;
  }

  /** Returns the usage added since an earlier sum. A number that did not change, or decreased, is omitted. @internal */
  since(earlier: Usage): Usage {
    if (this === earlier) return Usage.none;
    const added: { -readonly [K in keyof UsageFields]: UsageFields[K] } = {};
    for (const name of NAMES) {
      const [before, after] = [earlier[name], this[name]];
      if (after === undefined || after === before) continue;
      if (after > (before ?? 0) || before === undefined) added[name] = after - (before ?? 0);
    }
    for (const _ in added) return new Usage(added);
    return Usage.none;
  }

  /**
   * Returns the usage with its total cost known, in US dollars. @throws HoldfastError `CONTEXT_INVALID` for an invalid
   * cost.
   */
  withCost(cost: number): Usage {
    if (this.cost === cost && this.unpricedCalls === 0) return this;
    return new Usage({ ...this, cost: checkedCopy('cost', cost, readAmount), unpricedCalls: 0 });
  }

  toJSON(): UsageFields {
    const document: { -readonly [K in keyof UsageFields]: UsageFields[K] } = {};
    if (this.inputTokens !== undefined) document.inputTokens = this.inputTokens;
    if (this.outputTokens !== undefined) document.outputTokens = this.outputTokens;
    if (this.cacheReadTokens !== undefined) document.cacheReadTokens = this.cacheReadTokens;
    if (this.cacheWriteTokens !== undefined) document.cacheWriteTokens = this.cacheWriteTokens;
    if (this.reasoningTokens !== undefined) document.reasoningTokens = this.reasoningTokens;
    if (this.cost !== undefined) document.cost = this.cost;
    if (this.unreportedCalls > 0) document.unreportedCalls = this.unreportedCalls;
    if (this.unpricedCalls > 0) document.unpricedCalls = this.unpricedCalls;
    return document;
  }

  /** @throws StateFormatError for an invalid document. */
  static fromJSON(json: unknown): Usage {
    return DocumentReader.read(json, Usage.read);
  }

  /** @internal */
  static readonly read: Read<Usage> = (reader, value) => {
    const plain = plainSum(value);
    if (plain) return new Usage(plain);
    const fields = readUsageFields(reader, value);
    for (const _ in fields) return new Usage(fields);
    return Usage.none;
  };
}

const REPORTED = {
  'inputTokens?': readCount,
  'outputTokens?': readCount,
  'cacheReadTokens?': readCount,
  'cacheWriteTokens?': readCount,
  'reasoningTokens?': readCount,
  'cost?': readAmount,
};
const USAGE: Shape<UsageFields> = shapeOf({
  ...REPORTED,
  'unreportedCalls?': readNonEmpty(readCount),
  'unpricedCalls?': readNonEmpty(readCount),
});
const NAMES = [...USAGE.members.keys()] as (keyof UsageFields)[];
const CALL_USAGE: Shape<CallUsage> = shapeOf(REPORTED);

const readCallUsage: Read<CallUsage> = (reader, value) => readShape(reader, value, CALL_USAGE);
export const readUsageFields: Read<UsageFields> = (reader, value) => readShape(reader, value, USAGE);

type Summed = { -readonly [K in keyof Required<UsageFields>]: Usage[K] };

const NOTHING_USED: Summed = {
  inputTokens: undefined,
  outputTokens: undefined,
  cacheReadTokens: undefined,
  cacheWriteTokens: undefined,
  reasoningTokens: undefined,
  cost: undefined,
  unreportedCalls: 0,
  unpricedCalls: 0,
};

function addTo(total: Summed, used: Usage): void {
  total.inputTokens = sum(total.inputTokens, used.inputTokens, addCounts);
  total.outputTokens = sum(total.outputTokens, used.outputTokens, addCounts);
  total.cacheReadTokens = sum(total.cacheReadTokens, used.cacheReadTokens, addCounts);
  total.cacheWriteTokens = sum(total.cacheWriteTokens, used.cacheWriteTokens, addCounts);
  total.reasoningTokens = sum(total.reasoningTokens, used.reasoningTokens, addCounts);
  total.cost = sum(total.cost, used.cost, addAmounts);
  total.unreportedCalls = addCounts(total.unreportedCalls, used.unreportedCalls);
  total.unpricedCalls = addCounts(total.unpricedCalls, used.unpricedCalls);
}

function sum(
  left: number | undefined,
  right: number | undefined,
  add: (left: number, right: number) => number,
): number | undefined {
  return left === undefined ? right : right === undefined ? left : add(left, right);
}

/** Returns the reported numbers of one call, with the counts of unknown numbers. */
function withUnknowns(reported: CallUsage): UsageFields {
  const { inputTokens, outputTokens, cost } = reported;
  const unreportedCalls = inputTokens === undefined || outputTokens === undefined ? 1 : 0;
  const unpricedCalls = cost === undefined ? 1 : 0;
  return { ...reported, unreportedCalls, unpricedCalls };
}

const TOKENS: ReadonlySet<string> = new Set(NAMES.filter((name) => name.endsWith('Tokens')));

/**
 * Returns the usage of a plain object with counts of tokens only; `undefined` for any other value, which a reader must
 * check.
 */
function plainUsage(fields: CallUsage | null): UsageFields | undefined {
  if (!isPlainObject(fields)) return undefined;
  for (const name in fields) if (!TOKENS.has(name)) return undefined;
  const usage = withUnknowns(fields);
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage;
  const isPlain = isCountOrNone(inputTokens) && isCountOrNone(outputTokens) && isCountOrNone(reasoningTokens);
  return isPlain && isCountOrNone(cacheReadTokens) && isCountOrNone(cacheWriteTokens) ? usage : undefined;
}

/**
 * Returns the usage of a document with counts of tokens and calls only, without cost; `undefined` for any other
 * document.
 */
function plainSum(document: unknown): UsageFields | undefined {
  if (!isPlainObject(document)) return undefined;
  const { inputTokens, outputTokens, unreportedCalls, unpricedCalls } = document;
  if (!isTokenCount(inputTokens) || !isTokenCount(outputTokens)) return undefined;
  if (!isCallCount(unreportedCalls) || !isCallCount(unpricedCalls)) return undefined;
  let count = unreportedCalls === undefined ? 2 : 3;
  if (unpricedCalls !== undefined) count++;
  for (const _ in document) count--;
  return count === 0 ? { inputTokens, outputTokens, unreportedCalls, unpricedCalls } : undefined;
}

function isTokenCount(value: unknown): value is number {
  return value !== undefined && isCountOrNone(value);
}

function isCallCount(value: unknown): value is number | undefined {
  return value !== 0 && isCountOrNone(value);
}

function isCountOrNone(value: unknown): value is number | undefined {
  if (value === undefined) return true;
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && !Object.is(value, -0);
}

/** Returns the reported numbers without invalid ones: an invalid number must not fail the response. */
export function reportableUsage(reported: CallUsage): CallUsage {
  for (const name in reported) {
    if (!isReportable(name, reported[name as keyof CallUsage]))
      return Object.fromEntries(Object.entries(reported).filter((entry) => isReportable(...entry)));
  }
  return reported;
}

function isReportable(name: string, value: unknown): boolean {
  if (typeof value !== 'number') return true;
  return value >= 0 && (name === 'cost' ? value < Infinity : Number.isSafeInteger(value));
}

/** @throws TypeError `ARGUMENT_INVALID`. */
export function requireUsage(usage: Usage): void {
  if (!(usage instanceof Usage)) throw wrongArgument(usage, 'usage, as returned by Usage.of()');
}

/** Reads usage and refuses empty usage, which writers omit. */
export const readNonEmptyUsage: Read<Usage> = readNonEmpty(Usage.read);
