import type {
  JSONValue,
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import { callDemandsOf } from '../forms/form-of.ts';
import { sentWithoutItemIds } from '../values/provider-options.ts';
import type { CalledModel } from '../values/called-model.ts';

/**
 * Sets `store: false` for models of OpenAI's Responses API, so that a conversation does not refer to items that OpenAI
 * deletes. Does not change options that set `store`, that continue a conversation at OpenAI, or that declare tools which
 * OpenAI runs: the results of those tools exist at OpenAI only.
 *
 * The reasoning then comes encrypted, so that the next call can send it back. The package asks for it by the ids of models
 * that reason; the driver asks for it behind every other id, such as the name of a deployment.
 * @param takesReasoning false after the model has refused to encrypt its reasoning
 */
export function withoutStorage(
  options: LanguageModelV4CallOptions,
  model: CalledModel,
  takesReasoning = true,
): LanguageModelV4CallOptions {
  const { storage } = callDemandsOf(model);
  if (storage === undefined) return options;
  const all = options.providerOptions ?? {};
  const name = storage.options.find((each) => all[each]) ?? 'openai';
  const own = all[name] ?? {};
  if (DECISIVE.some((member) => own[member] !== undefined)) return options;
  if (options.tools?.some(({ type }) => type === 'provider')) return options;
  const asks = takesReasoning && storage.asksForReasoning && !KNOWN_TO_PACKAGE.test(model.modelId);
  const include = asks ? { include: withEncryptedReasoning(own['include']) } : {};
  return { ...options, providerOptions: { ...all, [name]: { ...own, ...include, store: false } } };
}

/** Ids by which the package knows whether a model reasons. */
const KNOWN_TO_PACKAGE = /^(gpt-\d|o\d|chatgpt-)/;

const ENCRYPTED_REASONING = 'reasoning.encrypted_content';

function withEncryptedReasoning(included: JSONValue | undefined): JSONValue[] {
  const others = Array.isArray(included) ? included : [];
  return others.includes(ENCRYPTED_REASONING) ? others : [...others, ENCRYPTED_REASONING];
}

const DECISIVE: readonly string[] = ['store', 'previousResponseId', 'conversation'];

/**
 * Returns a prompt without references to items of the provider: the provider then receives the content. Calls that the
 * provider ran itself, with their results and approvals, have no content to send. They are omitted, unless the call approves
 * or denies them.
 */
export function withoutItems(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const last = prompt.findLastIndex(({ role }) => role === 'assistant');
  const isDecision = prompt
    .slice(last + 1)
    .some(({ role, content }) => role === 'tool' && content.some(isApproval));
  const kept = isDecision ? last : prompt.length;
  const calls = new Set(prompt.slice(0, kept).flatMap(providerCalls));
  return prompt.flatMap((message, index) => detachedMessage(message, index < kept ? calls : NO_CALLS));
}

const NO_CALLS: ReadonlySet<string> = new Set();

type Part = Exclude<LanguageModelV4Message, { role: 'system' }>['content'][number];

function isApproval({ type }: Part): boolean {
  return type === 'tool-approval-response';
}

function providerCalls({ role, content }: LanguageModelV4Message): readonly string[] {
  if (role !== 'assistant') return [];
  return content.flatMap((part) =>
    part.type === 'tool-call' && part.providerExecuted ? [part.toolCallId] : [],
  );
}

/** `omitted`: the calls that are not sent. */
function detachedMessage(
  message: LanguageModelV4Message,
  omitted: ReadonlySet<string>,
): readonly LanguageModelV4Message[] {
  if (message.role === 'system') return [message];
  const sent = message.content.filter((part: Part) => !isOmitted(part, omitted));
  // Each part keeps its type, so the content fits the role.
  const content = sent.map((part) => detached(part));
  return content.length === 0 ? [] : [{ ...detached(message), content } as LanguageModelV4Message];
}

function isOmitted(part: Part, omitted: ReadonlySet<string>): boolean {
  if (part.type === 'tool-approval-response') return omitted.size > 0;
  return (part.type === 'tool-call' || part.type === 'tool-result') && omitted.has(part.toolCallId);
}

function detached<T extends { providerOptions?: SharedV4ProviderOptions }>(value: T): T {
  if (value.providerOptions === undefined) return value;
  const { providerOptions, ...rest } = value;
  return { ...rest, ...sentWithoutItemIds(providerOptions) } as T;
}
