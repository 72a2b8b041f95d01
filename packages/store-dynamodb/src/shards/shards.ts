import { invalidArgument } from '@holdfast/core';
import type { Clock, Instant } from '@holdfast/core';
import { META } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { shardOf } from './generation.ts';
import type { Generation } from './generation.ts';
import { firstLayout, layoutItem, readLayout } from './table-layout.ts';
import type { TableLayout } from './table-layout.ts';

const DEFAULT_SHARDS = 4;
/** A process uses a layout for so long after it has read it. */
const MAX_AGE_MILLISECONDS = 60_000;
/** So long after the announcement of a generation every process searches it, so that sessions may be put into it. */
const ANNOUNCED_MILLISECONDS = 2 * MAX_AGE_MILLISECONDS;
/** So long after the announcement no process writes to the generation before any more. */
const SETTLED_MILLISECONDS = 15 * MAX_AGE_MILLISECONDS;

/**
 * The shards of the indexes. Their number can be raised while the table is in use: a store announces a new generation,
 * and all processes search both. Then each write, and `prune`, put sessions into the new one. The generation before
 * ends when it is empty and no process can put a session into it any more.
 */
export class Shards {
  private readonly table: Table;
  private readonly clock: Clock;
  private readonly minShards: number | undefined;
  private cached: { readonly layout: TableLayout; readonly at: Instant } | undefined;
  private reading: Promise<TableLayout> | undefined;

  /** @param minShards `undefined` accepts the number that the table has */
  constructor(table: Table, clock: Clock, minShards: number | undefined) {
    this.table = table;
    this.clock = clock;
    this.minShards = minShards;
  }

  /**
   * Checks that the table has the layout of this release.
   * @throws StateFormatError for another layout, `STATE_VERSION` for the layout of a newer release
   */
  async check(): Promise<void> {
    await this.layout();
  }

  /** @throws RangeError `ARGUMENT_INVALID` when the number of shards is to be raised while sessions still move. */
  async checkRaise(): Promise<void> {
    const { current, before } = await this.layout();
    const { minShards = 0 } = this;
    if (minShards <= current.shards) return;
    throw invalidArgument(
      `shards cannot be raised to ${minShards}: the table ${JSON.stringify(this.table.TableName)} is being moved from ${before?.shards} to ${current.shards} shards. Call prune() until that is done, at least ${SETTLED_MILLISECONDS / 60_000} minutes after it began; work with at most ${current.shards} shards until then.`,
    );
  }

  /** The generations that sessions may be in, oldest first: sessions move to the later one. */
  async liveGenerations(): Promise<readonly Generation[]> {
    const { current, before, isMoving } = await this.layout();
    return isMoving && before ? [before, current] : [current];
  }

  /** The shard to put the items of a partition into. */
  async shardOf(pk: string): Promise<string> {
    const { current, before, isMoving, began } = await this.layout();
    const isSearchedByAll = this.clock.now() >= began + ANNOUNCED_MILLISECONDS;
    return shardOf(pk, before && isMoving && !isSearchedByAll ? before : current);
  }

  /**
   * The generation that items must leave. It is returned after its end too: a stalled process may have written to it.
   */
  async outgoingGeneration(): Promise<Generation | undefined> {
    const { before, began } = await this.layout();
    return this.clock.now() >= began + ANNOUNCED_MILLISECONDS ? before : undefined;
  }

  /** Ends the generation before, which the caller found empty, unless a process may still write to it. */
  async endOutgoing(): Promise<void> {
    const layout = await this.layout();
    const { rev, isMoving, began } = layout;
    if (!isMoving || this.clock.now() < began + SETTLED_MILLISECONDS) return;
    await this.replace(rev, { ...layout, rev: rev + 1, isMoving: false });
  }

  private layout(): Promise<TableLayout> {
    const [now, { cached }] = [this.clock.now(), this];
    if (cached && now >= cached.at && now < cached.at + MAX_AGE_MILLISECONDS)
      return Promise.resolve(cached.layout);
    this.reading ??= this.read(now).finally(() => {
      this.reading = undefined;
    });
    return this.reading;
  }

  /** Reads the layout. Writes it first for a new table, or to raise the number of shards. */
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

  /** The layout with as many shards as this store needs; `undefined` when it has them, or while sessions still move. */
  private raise({ rev, current, before, isMoving }: TableLayout, began: Instant): TableLayout | undefined {
    const { minShards = 0 } = this;
    if (minShards <= current.shards || (isMoving && before)) return undefined;
    const next = { number: current.number + 1, shards: minShards };
    return { rev: rev + 1, current: next, before: current, began, isMoving: true };
  }

  /** Writes a layout, if the stored one has this revision; `false` when another process was faster. */
  private async replace(rev: number | undefined, layout: TableLayout): Promise<boolean> {
    const expected = rev === undefined ? undefined : String(rev);
    const { isDone } = await this.table.compareAndPut(layoutItem(layout), expected);
    this.cached = undefined;
    return isDone;
  }
}
