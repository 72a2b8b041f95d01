import { StateFormatError } from '@holdfast/core';
import type { Item } from './item-size.ts';
import { META } from './keys.ts';
import type { Table } from './table.ts';

/** The version of the layout: of the items, their keys and the indexes. */
const SCHEMA = 2;
const DEFAULT_SHARDS = 4;
export const MAX_SHARDS = 100;

/**
 * How many shards a table has; says so there when nothing is. `undefined`: as many as there are.
 * @throws StateFormatError when sessions are kept in another way, `STATE_VERSION` when a newer release does: nothing is touched.
 */
export async function shardsOf(table: Table, wanted: number | undefined): Promise<number> {
  const meta = (await table.get(META)) ?? (await described(table, wanted ?? DEFAULT_SHARDS));
  const [schema, shards] = [numberIn(meta, 'schema'), numberIn(meta, 'shards')];
  if (schema !== SCHEMA) {
    const code = schema > SCHEMA ? 'STATE_VERSION' : 'STATE_FORMAT';
    throw unknownLayout(table, `schema ${SCHEMA}`, `schema ${schema}`, code);
  }
  const isNumber = Number.isInteger(shards) && shards >= 1 && shards <= MAX_SHARDS;
  if (!isNumber || (wanted !== undefined && wanted !== shards)) {
    throw unknownLayout(
      table,
      `${wanted ?? `1 to ${MAX_SHARDS}`} shards`,
      `${shards} shards`,
      'STATE_FORMAT',
    );
  }
  return shards;
}

/** What a table says of itself from now on; what another process says, if that was faster. */
async function described(table: Table, shards: number): Promise<Item> {
  const { pk, sk } = META;
  const item: Item = {
    pk: { S: pk },
    sk: { S: sk },
    schema: { N: String(SCHEMA) },
    shards: { N: String(shards) },
  };
  const { isDone } = await table.flip(item, undefined);
  return isDone ? item : ((await table.get(META)) ?? {});
}

function numberIn(item: Item, name: string): number {
  return Number(item[name]?.N);
}

function unknownLayout(
  { TableName }: Table,
  expected: string,
  found: string,
  code: 'STATE_FORMAT' | 'STATE_VERSION',
): StateFormatError {
  const options = { code, document: 'layout' };
  return new StateFormatError(`the table ${JSON.stringify(TableName)}`, expected, found, options);
}
