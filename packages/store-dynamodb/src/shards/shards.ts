import { invalidArgument, type Clock, type Instant } from '@holdfast/core';
import { META } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { shardOf, type Generation } from './generation.ts';
import { firstLayout, layoutItem, readLayout, type TableLayout } from './table-layout.ts';

const DEFAULT_SHARDS = 4;
/** The time for which a process uses a layout that it has read. */
const MAX_AGE_MS = 60_000;
/** The time after the announcement of a generation until every process searches it. Then processes write to it. */
const ANNOUNCED_MS = 2 * MAX_AGE_MS;
/** The time after the announcement until no process writes to the previous generation any more. */
const SETTLED_MS = 15 * MAX_AGE_MS;

/**
 * The shards of the indexes. Their number can be raised while the table is in use. A store announces a new generation,
 * and all processes search both generations. Then writes and `prune` move sessions to the new generation. The previous
 * generation ends when it is empty and no process can write to it any more.
 */
export class Shards {
  private readonly table: Table;
  private readonly clock: Clock;
  private readonly minShards: number | undefined;
  private cached: { readonly layout: TableLayout; readonly at: Instant } | undefined;
  private reading: Promise<TableLayout> | undefined;

  /** @param minShards `undefined` accepts the number of shards of the table */
  constructor(table: Table, clock: Clock, minShards: number | undefined) {
    this.table = table;
    this.clock = clock;
    this.minShards = minShards;
  }

  /**
   * Checks that the table has the layout of this release.
   * @throws StateFormatError `STATE_FORMAT` for another layout, `STATE_VERSION` for the layout of a newer release
   */
  async check(): Promise<void> {
    await this.layout();
  }

  /**
   * Checks that the table has the number of shards that this store needs.
   * @throws RangeError `ARGUMENT_INVALID` when the number cannot be raised because sessions still move
   */
  async checkRaise(): Promise<void> {
    const { current, before } = await this.layout();
    const { minShards = 0 } = this;
    if (minShards <= current.shards) return;
    throw invalidArgument(
      `Cannot raise shards to ${minShards}: sessions of the table ${JSON.stringify(this.table.TableName)} still move from ${before?.shards} to ${current.shards} shards. Pass at most ${current.shards} shards until prune() has moved all sessions, at least ${SETTLED_MS / 60_000} minutes after the move began.`,
    );
  }

  /** The generations that hold sessions, oldest first. Sessions move from the older to the newer one. */
  async liveGenerations(): Promise<readonly Generation[]> {
    const { current, before, isMoving } = await this.layout();
    return isMoving && before ? [before, current] : [current];
  }

  /** The shard for the items of a partition, in the generation that writes use now. */
  async shardOf(pk: string): Promise<string> {
    const { current, before, isMoving, began } = await this.layout();
    const isSearchedByAll = this.clock.now() >= began + ANNOUNCED_MS;
    return shardOf(pk, before && isMoving && !isSearchedByAll ? before : current);
  }

  /**
   * The generation that items are moved out of. It is returned after its end too, because a stalled process may have
   * written to it.
   */
  async outgoingGeneration(): Promise<Generation | undefined> {
    const { before, began } = await this.layout();
    return this.clock.now() >= began + ANNOUNCED_MS ? before : undefined;
  }

  /** Ends the previous generation, which the caller found empty. Does nothing while a process may still write to it. */
  async endOutgoing(): Promise<void> {
    const layout = await this.layout();
    const { rev, isMoving, began } = layout;
    if (!isMoving || this.clock.now() < began + SETTLED_MS) return;
    await this.replace(rev, { ...layout, rev: rev + 1, isMoving: false });
  }

  private layout(): Promise<TableLayout> {
    const [now, { cached }] = [this.clock.now(), this];
    if (cached && now >= cached.at && now < cached.at + MAX_AGE_MS) return Promise.resolve(cached.layout);
    this.reading ??= this.read(now).finally(() => {
      this.reading = undefined;
    });
    return this.reading;
  }

  /** Reads the layout. If the table is new, or has too few shards, it writes a layout first. */
  private async read(now: Instant): Promise<TableLayout> {
    for (;;) {
      const item = await this.table.get(META);
      const stored = item && readLayout(this.table.TableName, item);
      const next = stored ? this.raise(stored, now) : firstLayout(this.minShards ?? DEFAULT_SHARDS, now);
      if (next && !(await this.replace(stored?.rev, next))) continue;
      this.cached = { layout: next ?? (stored as TableLayout), at: now };
      return this.cached.layout;
    }
  }

  /**
   * The layout with the shards that this store needs; `undefined` when the table has them, or while sessions still
   * move.
   */
  private raise({ rev, current, before, isMoving }: TableLayout, began: Instant): TableLayout | undefined {
    const { minShards = 0 } = this;
    if (minShards <= current.shards || (isMoving && before)) return undefined;
    const next = { number: current.number + 1, shards: minShards };
    return { rev: rev + 1, current: next, before: current, began, isMoving: true };
  }

  /** Writes a layout if the stored layout has revision `rev`. Returns `false` when another process was faster. */
  private async replace(rev: number | undefined, layout: TableLayout): Promise<boolean> {
    const expected = rev === undefined ? undefined : String(rev);
    const { isDone } = await this.table.compareAndPut(layoutItem(layout), expected);
    this.cached = undefined;
    return isDone;
  }
}
