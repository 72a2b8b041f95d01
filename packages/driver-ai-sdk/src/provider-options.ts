import type { SharedV4ProviderMetadata, SharedV4ProviderOptions } from '@ai-sdk/provider';
import type { JsonObject, JsonValue } from '@holdfast/core';
import type { ProviderOptions } from '@holdfast/core/driver';
import { toJsonObject } from '@holdfast/core/driver';

/** Options for the AI SDK, spread into a part or message; nothing when there are none. */
export function sentOptions(options: JsonValue | undefined): { providerOptions?: SharedV4ProviderOptions } {
  // The options are opaque: what a provider reads from them is between it and whoever wrote them.
  return isFilled(options) ? { providerOptions: options as SharedV4ProviderOptions } : {};
}

/** What a provider attached to a part of its answer, as our options for that part; nothing when there is nothing. */
export function keptOptions(metadata: SharedV4ProviderMetadata | undefined): {
  providerOptions?: ProviderOptions;
} {
  if (metadata === undefined || metadata === null) return {};
  const options = toJsonObject(metadata);
  return isFilled(options) ? { providerOptions: options } : {};
}

/** Both options together: within a provider, the members of `over` win. */
export function mergedOptions(
  base: SharedV4ProviderOptions | undefined,
  over: SharedV4ProviderOptions | undefined,
): SharedV4ProviderOptions | undefined {
  if (base === undefined || over === undefined) return over ?? base;
  const merged = { ...base };
  for (const [provider, options] of Object.entries(over))
    merged[provider] = { ...merged[provider], ...options };
  return merged;
}

/**
 * The options without the ids of items at their provider. An answer that broke off was never stored there, and a
 * reference to it would make the next call fail; without the id the part is sent with its content.
 */
export function withoutItemIds(options: ProviderOptions | undefined): { providerOptions?: ProviderOptions } {
  const kept: Record<string, JsonValue> = {};
  for (const [provider, members] of Object.entries(options ?? {})) {
    const rest = isFilled(members) ? withoutMember(members, 'itemId') : members;
    if (!isEmptyObject(rest)) kept[provider] = rest;
  }
  return isFilled(kept) ? { providerOptions: kept } : {};
}

function withoutMember(object: JsonObject, name: string): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== name));
}

function isEmptyObject(value: JsonValue): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function isFilled(options: JsonValue | undefined): options is JsonObject {
  return (
    typeof options === 'object' && options !== null && !Array.isArray(options) && !isEmptyObject(options)
  );
}
