import { StateFormatError, type Instant } from '@holdfast/core';
import type { Item } from '../table/item.ts';
import { META } from '../table/keys.ts';
import type { Generation } from './generation.ts';

/** The layout of a table, as its item `META` describes it. */
export interface TableLayout {
  /** The number of writes of the item. */
  readonly rev: number;
  readonly current: Generation;
  /** The previous generation; `undefined` in a new table. */
  readonly before: Generation | undefined;
  /** The instant at which the current generation was announced. */
  readonly began: Instant;
  /** Whether sessions may still be in the previous generation. */
  readonly isMoving: boolean;
}

/** The version of the layout. It covers the items, their keys and the indexes. */
const SCHEMA = 4;
const NEWER_LAYOUT = 'a newer release wrote this, open it with that release';
const OLDER_LAYOUT = `this release reads layout ${SCHEMA} only: open it with the release that wrote it, or choose another table`;
export const MAX_SHARDS = 100;

export function firstLayout(shards: number, began: Instant): TableLayout {
  return { rev: 1, current: { number: 1, shards }, before: undefined, began, isMoving: false };
}

export function layoutItem({ rev, current, before, began, isMoving }: TableLayout): Item {
  const numbers = {
    schema: SCHEMA,
    generation: current.number,
    shards: current.shards,
    began,
    before: before?.shards,
    moving: isMoving ? 1 : undefined,
  };
  const item: Item = { pk: { S: META.pk }, sk: { S: META.sk }, rev: { S: String(rev) } };
  for (const [name, value] of Object.entries(numbers))
    if (value !== undefined) item[name] = { N: String(value) };
  return item;
}

/**
 * Reads the layout of a table from its item.
 * @throws StateFormatError `STATE_FORMAT` for another layout, `STATE_VERSION` for the layout of a newer release
 */
export function readLayout(table: string, item: Item): TableLayout {
  const number = (name: string): number => Number(item[name]?.N);
  const schema = number('schema');
  if (schema !== SCHEMA) {
    const isNewer = schema > SCHEMA;
    const expected = `schema ${SCHEMA}; ${isNewer ? NEWER_LAYOUT : OLDER_LAYOUT}`;
    throw layoutError(table, expected, `schema ${schema}`, isNewer ? 'STATE_VERSION' : 'STATE_FORMAT');
  }
  const current = { number: number('generation'), shards: number('shards') };
  const before = item['before'] && { number: current.number - 1, shards: number('before') };
  for (const { shards } of before ? [before, current] : [current]) {
    if (Number.isInteger(shards) && shards >= 1 && shards <= MAX_SHARDS) continue;
    throw layoutError(table, `1 to ${MAX_SHARDS} shards`, `${shards} shards`, 'STATE_FORMAT');
  }
  const [rev, began] = [Number(item['rev']?.S), number('began')];
  if (!Number.isInteger(current.number) || !Number.isInteger(rev) || !Number.isInteger(began)) {
    throw layoutError(table, 'a generation of shards', JSON.stringify(item), 'STATE_FORMAT');
  }
  return { rev, current, before, began, isMoving: item['moving'] !== undefined };
}

function layoutError(
  table: string,
  expected: string,
  found: string,
  code: 'STATE_FORMAT' | 'STATE_VERSION',
): StateFormatError {
  const options = { code, document: 'layout' };
  return new StateFormatError(`the table ${JSON.stringify(table)}`, expected, found, options);
}
