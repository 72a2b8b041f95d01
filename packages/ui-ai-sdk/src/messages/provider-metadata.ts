import type { PartBase } from '@holdfast/core/driver';
import type { ProviderMetadata } from 'ai';
import { isRecord } from '../json/is-same-value.ts';
import type { PartOptions } from './ui-part.ts';

/** Returns the data that providers attached to a part, by provider; `undefined` without such data. */
export function providerMetadataOf({ providerOptions = {} }: PartBase): ProviderMetadata | undefined {
  const facts = Object.entries(providerOptions).filter(([, value]) => isRecord(value));
  return facts.length === 0 ? undefined : (Object.fromEntries(facts) as ProviderMetadata); // checked above
}

/** Returns the member `providerMetadata` of a part, unless the options omit it. */
export function providerMember(
  part: PartBase,
  { hasProviderMetadata }: PartOptions,
): { readonly providerMetadata?: ProviderMetadata } {
  const providerMetadata = hasProviderMetadata ? providerMetadataOf(part) : undefined;
  return providerMetadata === undefined ? {} : { providerMetadata };
}
