import { shardsOf } from '../shards/generation.ts';
import type { Generation } from '../shards/generation.ts';
import type { Item } from '../table/item.ts';
import type { IndexName } from '../table/table-definition.ts';
import type { KeyRange, Table } from '../table/table.ts';

/** A range of an index, and how to read it. */
export interface IndexRange extends KeyRange {
  readonly index: IndexName;
  /** The number of entries of a shard that one request reads. */
  readonly batch: number;
}

/** An entry of an index: the partition of a session, and the key by which the index orders it. */
export interface IndexEntry {
  readonly pk: string;
  readonly key: string;
}

/** An index entry, and whether the next entry has the same key. */
export interface OrderedEntry extends IndexEntry {
  readonly isTied: boolean;
}

/** Reads a range of an index in all shards of a generation, merged in the order of the keys. */
export async function* mergedIndex(
  table: Table,
  generation: Generation,
  range: IndexRange,
): AsyncGenerator<OrderedEntry> {
  let last: IndexEntry | undefined;
  for await (const entry of mergeShards(table, generation, range)) {
    if (last) yield { ...last, isTied: last.key === entry.key };
    last = entry;
  }
  if (last) yield { ...last, isTied: false };
}

async function* mergeShards(
  table: Table,
  generation: Generation,
  range: IndexRange,
): AsyncGenerator<IndexEntry> {
  const shards = shardsOf(generation).map((shard) => shardEntries(table, shard, range));
  const heads = await Promise.all(shards.map((shard) => shard.next()));
  for (;;) {
    let least = -1;
    for (const [shard, { value, done }] of heads.entries()) {
      if (!done && (least < 0 || isBefore(value, heads[least]?.value))) least = shard;
    }
    const entry: IndexEntry | undefined = heads[least]?.value;
    const shard = shards[least];
    if (entry === undefined || shard === undefined) return;
    yield entry;
    heads[least] = await shard.next();
  }
}

async function* shardEntries(
  table: Table,
  shard: string,
  { index, from, to, batch }: IndexRange,
): AsyncGenerator<IndexEntry, undefined> {
  // One entry more than the batch, because the search compares the last entry with the next.
  const pages = table.shardPages(index, shard, { from, to, Limit: batch + 1 });
  for await (const items of pages) for (const item of items) yield entryOf(item, index);
}

function entryOf(item: Item, index: IndexName): IndexEntry {
  return { pk: item['pk']?.S ?? '', key: item[index]?.S ?? '' };
}

function isBefore(left: IndexEntry, right: IndexEntry | undefined): boolean {
  return right === undefined || left.key < right.key;
}
