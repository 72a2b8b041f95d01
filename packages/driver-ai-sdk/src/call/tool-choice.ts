import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { CalledModel } from '../values/called-model.ts';

/** The providers without the choice `none`: their packages then omit the tools and the calls of the history. */
const WITHOUT_NONE = /^(amazon-)?bedrock/;

/**
 * Lets a provider without the choice `none` choose, so that its request keeps the tools, and with them the prefix that its
 * reasoning is bound to. The loop does not run the calls of such a response (source: `@ai-sdk/amazon-bedrock` 5.0.101).
 */
export function withKnownChoice(
  options: LanguageModelV4CallOptions,
  { provider }: CalledModel,
): LanguageModelV4CallOptions {
  if (options.toolChoice?.type !== 'none' || !WITHOUT_NONE.test(provider)) return options;
  return { ...options, toolChoice: { type: 'auto' } };
}
