import { keyOf, type Item } from '../table/item.ts';
import { SHARD } from '../table/table-definition.ts';
import type { Table } from '../table/table.ts';
import { shardsOf } from './generation.ts';
import type { Shards } from './shards.ts';

const MOVES_AT_ONCE = 10;

/** Moves items out of the outgoing generation. If the process dies, the next call moves the remaining items. */
export class ShardMover {
  private readonly table: Table;
  private readonly shards: Shards;

  constructor(table: Table, shards: Shards) {
    this.table = table;
    this.shards = shards;
  }

  /** Moves about `limit` items. Ends the outgoing generation if it is empty. */
  async move(limit: number): Promise<void> {
    const outgoing = await this.shards.outgoingGeneration();
    if (outgoing === undefined) return;
    let moved = 0;
    // The index `created` holds all headers. The index `sweep` holds the entries and notes for `prune`.
    for (const index of ['created', 'sweep'] as const) {
      for (const shard of shardsOf(outgoing)) {
        for await (const items of this.table.indexPages(index, shard, { Limit: MOVES_AT_ONCE })) {
          await Promise.all(items.map((item) => this.moveItem(item, shard)));
          moved += items.length;
          if (moved >= limit) return;
        }
      }
    }
    if (moved === 0) await this.shards.endOutgoing();
  }

  /**
   * Moves an item, unless another write has moved it. The revision of a header does not change, so no writer is
   * refused.
   */
  private async moveItem(item: Item, from: string): Promise<void> {
    const key = keyOf(item);
    await this.table.changeAttribute(key, SHARD, from, await this.shards.shardOf(key.pk));
  }
}
