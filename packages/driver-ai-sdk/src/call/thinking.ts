import type { JSONObject, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { CalledModel } from '../values/called-model.ts';

/** The member of a provider's options that turns thinking on, for providers that demand thinking before tool calls. */
const SWITCHES: readonly { readonly provider: RegExp; readonly options: string; readonly member: string }[] =
  [
    { provider: /(^|\.)anthropic(\.|$)/, options: 'anthropic', member: 'thinking' },
    { provider: /^(amazon-)?bedrock/, options: 'bedrock', member: 'reasoningConfig' },
  ];

/**
 * Turns thinking off for a call whose last tool calls have no thinking before them, because another model made them or
 * because their thinking belongs to another request. Anthropic refuses such a call while thinking has a token budget
 * (anomalyco/opencode#3077, Kilo-Org/kilocode#5219).
 */
export function withoutRefusedThinking(
  options: LanguageModelV4CallOptions,
  { provider }: CalledModel,
): LanguageModelV4CallOptions {
  const found = SWITCHES.find((one) => one.provider.test(provider));
  if (found === undefined || !lacksThinking(options.prompt)) return options;
  const own = options.providerOptions?.[found.options];
  if (!isOn(own?.[found.member]) && !isLevel(options.reasoning)) return options;
  const off: JSONObject = { ...own, [found.member]: { type: 'disabled' } };
  return { ...options, providerOptions: { ...options.providerOptions, [found.options]: off } };
}

function lacksThinking(prompt: LanguageModelV4CallOptions['prompt']): boolean {
  const last = prompt.findLast(({ role }) => role === 'assistant');
  if (last?.role !== 'assistant' || prompt.at(-1)?.role !== 'tool') return false;
  return last.content.some(({ type }) => type === 'tool-call') && last.content[0]?.type !== 'reasoning';
}

function isOn(setting: unknown): boolean {
  return typeof setting === 'object' && setting !== null && 'type' in setting && setting.type === 'enabled';
}

function isLevel(reasoning: LanguageModelV4CallOptions['reasoning']): boolean {
  return reasoning !== undefined && reasoning !== 'none' && reasoning !== 'provider-default';
}
