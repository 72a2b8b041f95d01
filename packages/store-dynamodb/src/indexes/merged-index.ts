import type { Item } from '../table/item.ts';
import { INDEXES, type IndexName } from '../table/table-definition.ts';
import type { KeyRange, Table } from '../table/table.ts';

/** A range of an index, and how to read it. */
export interface IndexRange extends KeyRange {
  readonly index: IndexName;
  /** The number of entries of a partition that one request reads. */
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

/** Reads a range of some partitions of an index, merged in the order of the keys. */
export async function* mergedIndex(
  table: Table,
  partitions: readonly string[],
  range: IndexRange,
): AsyncGenerator<OrderedEntry> {
  let last: IndexEntry | undefined;
  for await (const entry of mergePartitions(table, partitions, range)) {
    if (last) yield { ...last, isTied: last.key === entry.key };
    last = entry;
  }
  if (last) yield { ...last, isTied: false };
}

async function* mergePartitions(
  table: Table,
  partitions: readonly string[],
  range: IndexRange,
): AsyncGenerator<IndexEntry> {
  const sources = partitions.map((partition) => entriesOf(table, partition, range));
  const heads = await Promise.all(sources.map((source) => source.next()));
  for (;;) {
    let least = -1;
    for (const [at, { value, done }] of heads.entries()) {
      if (!done && (least < 0 || isBefore(value, heads[least]?.value))) least = at;
    }
    const entry: IndexEntry | undefined = heads[least]?.value;
    const source = sources[least];
    if (entry === undefined || source === undefined) return;
    yield entry;
    heads[least] = await source.next();
  }
}

async function* entriesOf(
  table: Table,
  partition: string,
  { index, from, to, batch }: IndexRange,
): AsyncGenerator<IndexEntry, undefined> {
  // One entry more than the batch, because the search compares the last entry with the next.
  const pages = table.indexPages(index, partition, { from, to, Limit: batch + 1 });
  for await (const items of pages) for (const item of items) yield entryOf(item, index);
}

function entryOf(item: Item, index: IndexName): IndexEntry {
  return { pk: item['pk']?.S ?? '', key: item[INDEXES[index].range]?.S ?? '' };
}

function isBefore(left: IndexEntry, right: IndexEntry | undefined): boolean {
  return right === undefined || left.key < right.key;
}
