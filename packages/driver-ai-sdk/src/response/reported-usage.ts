import type { LanguageModelV4Usage, SharedV4ProviderMetadata } from '@ai-sdk/provider';
import { Usage } from '@holdfast/core';
import { member } from '../values/member.ts';

/**
 * Converts the reported usage, with the cost in US dollars if the provider reported it. A number that the provider did
 * not report stays unknown. No call has neither input nor output: providers report two zeros for a response that broke
 * off, so two zeros count as not reported.
 */
export function convertUsage(
  usage: LanguageModelV4Usage | undefined,
  metadata?: SharedV4ProviderMetadata,
): Usage {
  const cost = metadata === undefined ? undefined : reportedCost(metadata);
  const { inputTokens, outputTokens } = usage ?? {};
  const isUnknown = usage === undefined || (inputTokens?.total === 0 && outputTokens?.total === 0);
  if (isUnknown) return cost === undefined ? Usage.unreported : Usage.of({ cost });
  const counts = {
    inputTokens: countOf(inputTokens?.total),
    outputTokens: countOf(outputTokens?.total),
    cacheReadTokens: countOf(inputTokens?.cacheRead),
    cacheWriteTokens: countOf(inputTokens?.cacheWrite),
    reasoningTokens: countOf(outputTokens?.reasoning),
  };
  return Usage.of(cost === undefined ? counts : { ...counts, cost });
}

function countOf(count: unknown): number | undefined {
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}

/** The reported numbers of one call. */
export type CallUsage = Parameters<typeof Usage.of>[0];

/** xAI reports costs in ticks. */
const TICKS_PER_DOLLAR = 1e10;

/** Returns the cost in US dollars that a provider reported. */
function reportedCost({ gateway, openrouter, xai }: SharedV4ProviderMetadata): number | undefined {
  const ticks = amountOf(xai?.['costInUsdTicks']);
  if (ticks !== undefined) return ticks / TICKS_PER_DOLLAR;
  return amountOf(gateway?.['cost']) ?? amountOf(member(openrouter?.['usage'], 'cost'));
}

/** Reads an amount. The gateway reports a decimal text. */
function amountOf(value: unknown): number | undefined {
  const amount = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof amount === 'number' && amount >= 0 && amount < Infinity ? amount : undefined;
}

/**
 * True for providers that report usage before the end of a stream, in events that the AI SDK does not pass on by itself:
 * Anthropic with the first event, Google with each. The gateway's servers would read the option, so it is not sent there.
 */
export function reportsUsageEarly(provider: string): boolean {
  return /anthropic|google|vertex/.test(provider) && !provider.startsWith('gateway');
}

/** Returns the usage that an event of Anthropic or Google reports, as far as it is known at that time. */
export function earlyUsage(event: unknown): CallUsage | undefined {
  const type = member(event, 'type');
  if (type === 'message_start') return anthropicInput(member(member(event, 'message'), 'usage'));
  if (type === 'message_delta') return anthropicOutput(member(event, 'usage'));
  return googleUsage(member(event, 'usageMetadata'));
}

/** The output tokens of the first event are not read: Anthropic reports a few tokens there, not the response's. */
function anthropicInput(usage: unknown): CallUsage | undefined {
  const plain = countOf(member(usage, 'input_tokens'));
  if (plain === undefined) return undefined;
  const cacheReadTokens = countOf(member(usage, 'cache_read_input_tokens')) ?? 0;
  const cacheWriteTokens = countOf(member(usage, 'cache_creation_input_tokens')) ?? 0;
  return { inputTokens: plain + cacheReadTokens + cacheWriteTokens, cacheReadTokens, cacheWriteTokens };
}

function anthropicOutput(usage: unknown): CallUsage | undefined {
  const outputTokens = countOf(member(usage, 'output_tokens'));
  return outputTokens === undefined ? undefined : { outputTokens };
}

function googleUsage(usage: unknown): CallUsage | undefined {
  const inputTokens = countOf(member(usage, 'promptTokenCount'));
  if (inputTokens === undefined) return undefined;
  const written = countOf(member(usage, 'candidatesTokenCount'));
  const reasoningTokens = countOf(member(usage, 'thoughtsTokenCount'));
  const outputTokens =
    written === undefined && reasoningTokens === undefined
      ? undefined
      : (written ?? 0) + (reasoningTokens ?? 0);
  const cacheReadTokens = countOf(member(usage, 'cachedContentTokenCount'));
  return { inputTokens, outputTokens, cacheReadTokens, reasoningTokens };
}

/** True when the provider reported a number of tokens or a cost. */
export function hasNumbers({ inputTokens, outputTokens, cost }: Usage): boolean {
  return inputTokens !== undefined || outputTokens !== undefined || cost !== undefined;
}
