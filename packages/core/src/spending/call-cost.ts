import { estimateTokens, tokensOfRequest, tokensOfStart } from '../loop/inference/token-estimate.ts';
import type { InferenceRequest } from '../loop/inference/driver.ts';
import { HoldfastError } from '../errors.ts';
import { pricedUsage, type ModelPrices } from '../loop/inference/model-prices.ts';
import type { AgentState } from '../state/agent-state.ts';
import { Usage } from '../state/inference/usage.ts';

/** A call of a model that is about to be made. */
export interface LimitedCall<Context = unknown> {
  readonly request: InferenceRequest;
  /** The id of the model that the call goes to; `undefined` when it is unknown. */
  readonly modelId: string | undefined;
  /** The run context of the run that calls; `undefined` when the run has none, and outside of a run. */
  readonly runContext: Context;
  /** The state of the run that calls; `undefined` outside of a run. */
  readonly state: AgentState | undefined;
}

/** The facts of a call that determine what it can cost. */
type PricedCall = Omit<LimitedCall, 'runContext'>;

/**
 * The most that a call can cost in US dollars: its estimated input, and as much output as its settings allow.
 * @throws HoldfastError `SPENDING_UNBOUNDED` when the model has no price, or the settings have no `maxOutputTokens`.
 */
export function estimatedCost(call: PricedCall, prices: ModelPrices): number {
  const { request, modelId } = call;
  const outputTokens = request.llmConfig?.maxOutputTokens;
  if (outputTokens === undefined)
    throw unbounded(modelId, 'the settings of the model have no maxOutputTokens. Set maxOutputTokens');
  const inputTokens = Math.ceil(estimateInput(call));
  const [plain, cached] = [0, inputTokens].map((cacheWriteTokens) => {
    const usage = Usage.of({ inputTokens, outputTokens, cacheWriteTokens });
    return knownCost({ usage, modelId: undefined }, prices, modelId);
  });
  if (plain === undefined || cached === undefined)
    throw unbounded(modelId, 'the prices do not include this model. Add its price');
  return Math.max(plain, cached);
}

/** The cost in US dollars of a response or a failed call; `undefined` when its tokens or its price are unknown. */
export function knownCost(
  called: Parameters<typeof pricedUsage>[0],
  prices: ModelPrices | undefined,
  modelId: string | undefined,
): number | undefined {
  return prices ? pricedUsage(called, prices, modelId).cost : called.usage.cost;
}

/** Estimates the tokens of messages, system prompt and tools. */
function estimateInput({ request, state }: PricedCall): number {
  if (state === undefined) return tokensOfRequest(request);
  return estimateTokens(state, request.messages, tokensOfStart(request));
}

function unbounded(modelId: string | undefined, why: string): HoldfastError {
  const which = modelId === undefined ? 'the driver’s default model' : `model ${JSON.stringify(modelId)}`;
  const message = `The upper bound of a call of ${which} cannot be computed: ${why}, or pass upperBound to withSpendingLimit.`;
  return new HoldfastError('SPENDING_UNBOUNDED', message, { data: { modelId } });
}
