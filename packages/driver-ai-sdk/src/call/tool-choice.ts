import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { callDemandsOf } from '../forms/form-of.ts';
import type { CalledModel } from '../values/called-model.ts';

/**
 * Lets a provider without the choice `none` choose, so that its request keeps the tools, and with them the prefix that its
 * reasoning is bound to. The loop does not run the calls of such a response.
 */
export function withKnownChoice(
  options: LanguageModelV4CallOptions,
  model: CalledModel,
): LanguageModelV4CallOptions {
  if (options.toolChoice?.type !== 'none' || !callDemandsOf(model).lacksNoneChoice) return options;
  return { ...options, toolChoice: { type: 'auto' } };
}
