import type { Feature } from '../wire.ts';

/** The features of a provider. */
export function features(...list: readonly Feature[]): ReadonlySet<Feature> {
  return new Set(list);
}
