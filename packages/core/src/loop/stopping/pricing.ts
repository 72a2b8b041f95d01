import type { AgentState } from '../../state/agent-state.ts';
import type { LlmConfig } from '../../state/inference/llm-config.ts';
import type { Hook } from '../hooks/hook.ts';
import { stepAtWork } from '../steps/stepper.ts';
import { pricedUsage, type ModelIdOf, type ModelPrices } from '../inference/model-prices.ts';

/** Runs before all other hooks that read a response. */
const PRICING_PRIORITY = 2_000;

/** Adds the cost to every response whose provider did not report it. */
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

/** The settings with which the current step called its model. */
function settingsAtWork(state: AgentState): LlmConfig | undefined {
  const step = stepAtWork(state);
  return step ? state.requestOf(step).llmConfig : state.llmConfig;
}
