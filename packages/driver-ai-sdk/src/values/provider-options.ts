import type { SharedV4ProviderMetadata, SharedV4ProviderOptions } from '@ai-sdk/provider';
import type { JsonObject, JsonValue } from '@holdfast/core';
import { toJsonObject, withoutCallMarks, type ProviderOptions } from '@holdfast/core/driver';
import { copyOf } from './copy.ts';

/** A copy of the provider options of a part or message for the AI SDK, to spread; an empty object without options. */
export function sentOptions(options: JsonValue | undefined): { providerOptions?: SharedV4ProviderOptions } {
  // The options are opaque: only the provider knows their type.
  const sent = isFilled(options) ? withoutCallMarks(options) : undefined;
  return isFilled(sent) ? { providerOptions: copyOf(sent) as SharedV4ProviderOptions } : {};
}

/** Converts metadata of a part of a response to provider options, to spread; an empty object without metadata. */
export function keptOptions(metadata: SharedV4ProviderMetadata | undefined): {
  providerOptions?: ProviderOptions;
} {
  if (metadata === undefined || metadata === null) return {};
  const options = toJsonObject(metadata);
  return isFilled(options) ? { providerOptions: options } : {};
}

/** Merges two sets of options. Within a provider, the members of `over` replace those of `base`. */
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
 * Removes the provider's item ids from options. A provider does not store an interrupted response, so a reference to its
 * items would make the next call fail. Without the id, the driver sends the content of the part.
 */
export function withoutItemIds(options: ProviderOptions | undefined): { providerOptions?: ProviderOptions } {
  const kept: Record<string, JsonValue> = {};
  for (const [provider, members] of Object.entries(options ?? {})) {
    const rest = isFilled(members) ? withoutMember(members, 'itemId') : members;
    if (!isEmptyObject(rest)) kept[provider] = rest;
  }
  return isFilled(kept) ? { providerOptions: kept } : {};
}

/** Does the same for options that were converted for the AI SDK. */
export function sentWithoutItemIds(options: SharedV4ProviderOptions): {
  providerOptions?: SharedV4ProviderOptions;
} {
  return sentOptions(withoutItemIds(toJsonObject(options)).providerOptions);
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
