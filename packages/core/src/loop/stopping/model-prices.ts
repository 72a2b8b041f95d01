import type { ArgumentCheck } from '../../arguments.ts';
import { mustBe, optionsCheck } from '../../arguments.ts';
import { HoldfastError } from '../../errors.ts';
import type { AgentState } from '../../state/agent-state.ts';
import type { InferenceResponse } from '../../state/inference/inference-response.ts';
import type { LlmConfig } from '../../state/llm-config.ts';
import type { Usage } from '../../state/inference/usage.ts';
import { requireUsage } from '../../state/inference/usage.ts';
import type { Hook } from '../hooks/hook.ts';
import { stepAtWork } from '../stepper.ts';

/** What a model costs, in US dollars for a million tokens. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  /** Input read from the provider's cache; default as `input`. */
  readonly cacheRead?: number;
  /** Input written to the provider's cache; default as `input`. */
  readonly cacheWrite?: number;
}

/**
 * Prices by the id of the model: as the driver is told it (`openai:gpt-5`, `openai/gpt-5`), without the provider (`gpt-5`), or as the
 * provider calls it in its answer.
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

/** Tables that were found right: one may be long, and be given to many loops. */
const checkedTables = new WeakSet<object>();

/** Prices in dollars for a million tokens, by the id of the model. */
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
 * What a call cost in US dollars; `undefined` when its tokens were not reported.
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for what is not usage or a price.
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

/** The price of the first of the ids that has one. */
function priceOf(prices: ModelPrices, ...modelIds: readonly (string | undefined)[]): ModelPrice | undefined {
  for (const id of modelIds) {
    for (const name of id === undefined ? [] : [id, id.replace(/^[^:/]*[:/]/, '')]) {
      if (Object.hasOwn(prices, name)) return prices[name];
    }
  }
  return undefined;
}

/** Says which model a call with these settings goes to; `undefined` when nobody knows. */
export type ModelIdOf = (llmConfig: LlmConfig | undefined) => string | undefined;

/** Puts a price on every answer whose provider did not. */
export function pricing(prices: ModelPrices, modelIdOf: ModelIdOf): Hook {
  return Object.freeze<Hook>({
    name: 'pricing',
    priority: PRICING_PRIORITY,
    afterInference(response, { state }) {
      const usage = pricedUsage(response, prices, modelIdOf(settingsAtWork(state)));
      return usage === response.usage ? undefined : { response: response.withUsage(usage) };
    },
  });
}

/** The settings that the model of the step in progress was called with. */
function settingsAtWork(state: AgentState): LlmConfig | undefined {
  const step = stepAtWork(state);
  return step ? state.requestOf(step).llmConfig : state.llmConfig;
}

/** What an answer used, with its cost if the provider named none and a price is known. */
export function pricedUsage(
  { usage, modelId: answeredBy }: Pick<InferenceResponse, 'usage' | 'modelId'>,
  prices: ModelPrices,
  modelId: string | undefined,
): Usage {
  const price = usage.cost === undefined ? priceOf(prices, modelId, answeredBy) : undefined;
  const cost = price && costAt(usage, price);
  return cost === undefined ? usage : usage.withCost(cost);
}

/** Before all else that looks at an answer. */
const PRICING_PRIORITY = 2_000;

/** A limit in dollars cannot be kept for a model whose price nobody knows. @throws HoldfastError `PRICE_UNKNOWN` */
export function requirePrice(prices: ModelPrices | undefined, modelId: string | undefined): void {
  if (prices === undefined || priceOf(prices, modelId) === undefined) throw priceUnknown(modelId);
}

function priceUnknown(modelId: string | undefined): HoldfastError {
  const which = modelId === undefined ? 'the driver’s default model' : `model "${modelId}"`;
  const advice = 'Add it to `prices`, by the id of the model, or leave maxCost out.';
  return new HoldfastError(
    'PRICE_UNKNOWN',
    `There is a limit of cost, and no price for ${which}. ${advice}`,
    { data: { modelId } },
  );
}
