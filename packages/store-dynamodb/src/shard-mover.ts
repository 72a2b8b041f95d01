import type { Item } from './item-size.ts';
import { shardsOf } from './keys.ts';
import type { Shards } from './shards.ts';
import { SHARD } from './table-definition.ts';
import type { Table } from './table.ts';

const AT_ONCE = 10;

/** Moves items out of the generation of shards that they are to leave. A process that dies leaves the rest to the next. */
export class ShardMover {
  private readonly table: Table;
  private readonly shards: Shards;

  constructor(table: Table, shards: Shards) {
    this.table = table;
    this.shards = shards;
  }

  /** Moves at most `limit` items; if there are none, ends the generation. */
  async move(limit: number): Promise<void> {
    const left = await this.shards.left();
    if (left === undefined) return;
    let moved = 0;
    // All headers are in `created`; entries and notes that are to be looked at are in `sweep`.
    for (const index of ['created', 'sweep'] as const) {
      for (const shard of shardsOf(left)) {
        for await (const items of this.table.shardPages(index, shard, { Limit: AT_ONCE })) {
          await Promise.all(items.map((item) => this.moveItem(item, shard)));
          moved += items.length;
          if (moved >= limit) return;
        }
      }
    }
    if (moved === 0) await this.shards.retire();
  }

  /** Moves an item, unless a write has done so. The revision of a header stays, so that its writers are not disturbed. */
  private async moveItem({ pk, sk }: Item, from: string): Promise<void> {
    const key = { pk: pk?.S ?? '', sk: sk?.S ?? '' };
    await this.table.change(key, SHARD, from, await this.shards.of(key.pk));
  }
}
