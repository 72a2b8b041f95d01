import { mustBe, optionsCheck, type ArgumentCheck } from '../../arguments.ts';
import { HoldfastError } from '../../errors.ts';
import type { InferenceResponse } from '../../state/inference/inference-response.ts';
import type { LlmConfig } from '../../state/inference/llm-config.ts';
import { requireUsage, type Usage } from '../../state/inference/usage.ts';

/** The price of a model, in US dollars for a million tokens. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  /** Input that is read from the provider's cache; default as `input`. */
  readonly cacheRead?: number;
  /** Input that is written to the provider's cache; default as `input`. */
  readonly cacheWrite?: number;
}

/**
 * Prices by the id of the model: as it is passed to the driver (`openai:gpt-5`, `openai/gpt-5`), without the provider
 * (`gpt-5`), or as the provider names the model in its response.
 */
export type ModelPrices = Readonly<Record<string, ModelPrice>>;

const MILLION = 1_000_000;
const DOLLARS = mustBe.number(0, Number.MAX_VALUE);

const checkPrice = optionsCheck<ModelPrice>('price', {
  input: mustBe.required(DOLLARS),
  output: mustBe.required(DOLLARS),
  cacheRead: DOLLARS,
  cacheWrite: DOLLARS,
});

/** Tables that passed the check. A table may be long, and passed to many loops. */
const checkedTables = new WeakSet<object>();

/** The check of prices in US dollars for a million tokens, by the id of the model. */
export const PRICES: ArgumentCheck = {
  expected: 'prices by the id of the model, as in { "gpt-5": { input: 1.25, output: 10 } }',
  accepts(value) {
    if (!mustBe.object.accepts(value)) return false;
    const table = value as ModelPrices;
    if (checkedTables.has(table)) return true;
    for (const [modelId, price] of Object.entries(table)) checkPrice(price, `the price of "${modelId}"`);
    checkedTables.add(table);
    return true;
  },
};

/**
 * The cost of a call in US dollars; `undefined` when its tokens were not reported.
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for an invalid usage or price.
 */
export function costOf(usage: Usage, price: ModelPrice): number | undefined {
  requireUsage(usage);
  return costAt(usage, checkPrice(price));
}

function costAt(usage: Usage, price: ModelPrice): number | undefined {
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  if (inputTokens === undefined || outputTokens === undefined) return undefined;
  const { input, output, cacheRead = input, cacheWrite = input } = price;
  const fresh = Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens);
  const cost = fresh * input + cacheReadTokens * cacheRead + cacheWriteTokens * cacheWrite;
  return (cost + outputTokens * output) / MILLION;
}

/** The price of the first of the ids that has a price. */
function priceOf(prices: ModelPrices, ...modelIds: readonly (string | undefined)[]): ModelPrice | undefined {
  for (const id of modelIds) {
    for (const name of id === undefined ? [] : [id, id.replace(/^[^:/]*[:/]/, '')]) {
      if (Object.hasOwn(prices, name)) return prices[name];
    }
  }
  return undefined;
}

/** Returns the id of the model that a call with these settings goes to; `undefined` when it is unknown. */
export type ModelIdOf = (llmConfig: LlmConfig | undefined) => string | undefined;

/** The usage of a response, with its cost if the provider reported none and the price is known. */
export function pricedUsage(
  { usage, modelId: answeredBy }: Pick<InferenceResponse, 'usage' | 'modelId'>,
  prices: ModelPrices,
  modelId: string | undefined,
): Usage {
  const price = usage.cost === undefined ? priceOf(prices, modelId, answeredBy) : undefined;
  const cost = price && costAt(usage, price);
  return cost === undefined ? usage : usage.withCost(cost);
}

/**
 * Requires a price for the model, because a cost limit cannot be enforced without it. @throws HoldfastError
 * `PRICE_UNKNOWN`
 */
export function requirePrice(prices: ModelPrices | undefined, modelId: string | undefined): void {
  if (prices === undefined || priceOf(prices, modelId) === undefined) throw priceUnknown(modelId);
}

function priceUnknown(modelId: string | undefined): HoldfastError {
  const which = modelId === undefined ? 'the driver’s default model' : `model "${modelId}"`;
  const advice = 'Add it to `prices` by the id of the model, or omit `maxCost`.';
  return new HoldfastError('PRICE_UNKNOWN', `A cost limit needs a price for ${which}. ${advice}`, {
    data: { modelId },
  });
}
