import type { SharedV4ProviderOptions } from '@ai-sdk/provider';
import type { CalledModel } from '../values/called-model.ts';
import { mergedOptions } from '../values/provider-options.ts';

/** The time for which a provider caches a prompt after its last use. */
export type CacheTtl = '5m' | '1h';

/** The options that mark a message or a tool for the cache; `undefined` when the provider takes no marks. */
export function marksOf(
  { provider, modelId }: CalledModel,
  ttl: CacheTtl,
): SharedV4ProviderOptions | undefined {
  const isAnthropic = /anthropic|claude/i.test(`${provider} ${modelId}`);
  if (provider === 'gateway' && isAnthropic) return mergedOptions(anthropicMark(ttl), bedrockMark(ttl));
  if (isBedrockConverse(provider)) return bedrockMarkOf(modelId, ttl);
  return isAnthropic ? anthropicMark(ttl) : undefined;
}

function isBedrockConverse(provider: string): boolean {
  return /^(amazon-?)?bedrock$/i.test(provider);
}

/** Claude models from 3.5 Haiku on. Bedrock refuses cache points of other models. */
const CACHING_CLAUDE = /claude-(3-7|3-5-haiku|[a-z]+-\d)/;

function bedrockMarkOf(modelId: string, ttl: CacheTtl): SharedV4ProviderOptions | undefined {
  if (CACHING_CLAUDE.test(modelId)) return bedrockMark(ttl);
  // An inference profile of the application does not name its model. When the model refuses marks, the driver sends none.
  if (modelId.includes('application-inference-profile/')) return bedrockMark('5m');
  return modelId.includes('amazon.nova') ? bedrockMark('5m') : undefined;
}

/** Without a TTL, which is 5 minutes for the provider. */
function anthropicMark(ttl: CacheTtl): SharedV4ProviderOptions {
  return { anthropic: { cacheControl: { type: 'ephemeral', ...(ttl === '1h' && { ttl }) } } };
}

function bedrockMark(ttl: CacheTtl): SharedV4ProviderOptions {
  return { bedrock: { cachePoint: { type: 'default', ...(ttl === '1h' && { ttl }) } } };
}

/** The provider's name in provider options that take `promptCacheKey`; `undefined` when the provider takes no key. */
export function keyNamespace(
  { provider, modelId }: CalledModel,
  own: SharedV4ProviderOptions | undefined,
): string | undefined {
  if (provider.startsWith('azure')) return own?.['azure'] ? 'azure' : 'openai';
  if (provider === 'xai.responses') return 'xai';
  const isOpenAi =
    /^openai(\.|$)/.test(provider) || (provider === 'gateway' && modelId.startsWith('openai/'));
  return isOpenAi ? 'openai' : undefined;
}
