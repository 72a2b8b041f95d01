import type { JsonObject } from '@holdfast/core';
import { isObject } from '../json/is-same-value.ts';
import type { UIPart } from './ui-part.ts';

/** The metadata in which a user message keeps its data parts, which are for the page: models do not read them. */
export const DATA_PARTS = 'data_parts';

/** A part of a type that the application names, such as `data-place`. */
export type DataPart = Extract<UIPart, { readonly type: `data-${string}` }>;

/** Returns the metadata of a message that keeps data parts: each one with its index among all parts. */
export function dataPartsMetadata(parts: ReadonlyMap<number, DataPart>): JsonObject {
  const kept = [...parts].map(([index, { type, id, data }]) => ({
    index,
    type,
    ...(id !== undefined && { id }),
    data,
  }));
  return kept.length === 0 ? {} : ({ [DATA_PARTS]: kept } as unknown as JsonObject);
}

/** Returns the parts of a user message with its data parts, in the order in which the page sent them. */
export function withDataParts(parts: readonly UIPart[], kept: unknown): UIPart[] {
  const all = [...parts];
  if (!Array.isArray(kept)) return all;
  for (const { index, ...part } of kept.filter(isKept)) all.splice(index, 0, Object.freeze(part));
  return all;
}

export function isDataPart(part: Readonly<Record<string, unknown>>): part is DataPart {
  const { type, id } = part;
  const isNamed = typeof type === 'string' && /^data-./.test(type);
  return isNamed && 'data' in part && (id === undefined || typeof id === 'string');
}

function isKept(value: unknown): value is DataPart & { readonly index: number } {
  return isObject(value) && Number.isInteger(value['index']) && isDataPart(value);
}
