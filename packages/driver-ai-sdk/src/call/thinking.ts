import type { JSONObject, LanguageModelV4CallOptions, LanguageModelV4Message } from '@ai-sdk/provider';
import { callDemandsOf, formOf } from '../forms/form-of.ts';
import type { CalledModel } from '../values/called-model.ts';

/**
 * Turns thinking off for a call whose last tool calls have no thinking before them, because another model made them or
 * because their thinking belongs to another request. Anthropic refuses such a call while thinking has a token budget.
 */
export function withoutRefusedThinking(
  options: LanguageModelV4CallOptions,
  model: CalledModel,
): LanguageModelV4CallOptions {
  const { thinking: found } = callDemandsOf(model);
  if (found === undefined || !lacksThinking(options.prompt)) return options;
  const { providerOptions = {} } = options;
  const { member } = found;
  if (!found.options.some((name) => isOn(providerOptions[name]?.[member])) && !isLevel(options.reasoning))
    return options;
  const given = found.options.filter((name) => providerOptions[name] !== undefined);
  const names = given.length === 0 ? found.options.slice(0, 1) : given;
  const off = names.map((name): [string, JSONObject] => {
    return [name, { ...providerOptions[name], [member]: { type: 'disabled' } }];
  });
  return { ...options, providerOptions: { ...providerOptions, ...Object.fromEntries(off) } };
}

/** True when results stand after the last message of the assistant, also with words of the user, which packages join to them. */
function lacksThinking(prompt: LanguageModelV4CallOptions['prompt']): boolean {
  const index = prompt.findLastIndex(({ role }) => role === 'assistant');
  const last = prompt[index];
  if (last?.role !== 'assistant' || !prompt.slice(index + 1).some(({ role }) => role === 'tool'))
    return false;
  return last.content.some(({ type }) => type === 'tool-call') && last.content[0]?.type !== 'reasoning';
}

/**
 * Gives an empty signature to thinking without one, for models behind Anthropic's protocol that demand thinking before tool
 * calls, such as DeepSeek's. The package omits thinking without a signature.
 */
export function withSignedThinking(
  options: LanguageModelV4CallOptions,
  model: CalledModel,
): LanguageModelV4CallOptions {
  if (!callDemandsOf(model).omitsUnsignedThinking || formOf(model).reasoningBeforeCalls === undefined)
    return options;
  return { ...options, prompt: options.prompt.map(signedMessage) };
}

function signedMessage(message: LanguageModelV4Message): LanguageModelV4Message {
  if (message.role !== 'assistant') return message;
  const content = message.content.map((part) => {
    if (part.type !== 'reasoning') return part;
    const { providerOptions } = part;
    // A signature that the part has replaces the empty one.
    const anthropic: JSONObject = { signature: '', ...providerOptions?.['anthropic'] };
    return { ...part, providerOptions: { ...providerOptions, anthropic } };
  });
  return { ...message, content };
}

function isOn(setting: unknown): boolean {
  return typeof setting === 'object' && setting !== null && 'type' in setting && setting.type === 'enabled';
}

function isLevel(reasoning: LanguageModelV4CallOptions['reasoning']): boolean {
  return reasoning !== undefined && reasoning !== 'none' && reasoning !== 'provider-default';
}
