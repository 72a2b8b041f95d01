import { invalidArgument, StateFormatError } from '@holdfast/core';
import type { Clock, Instant } from '@holdfast/core';
import type { Item } from './item-size.ts';
import { META, shardOf } from './keys.ts';
import type { Generation } from './keys.ts';
import type { Table } from './table.ts';

/** How a table is laid out. */
interface Layout {
  /** The number of times that this was written. */
  readonly rev: number;
  readonly current: Generation;
  /** The generation before, if there was one. */
  readonly before: Generation | undefined;
  /** When the current generation began. */
  readonly began: Instant;
  /** Whether sessions may still be in the generation before. */
  readonly isMoving: boolean;
}

/** The version of the layout: of the items, their keys and the indexes. */
const SCHEMA = 2;
const FIRST_SHARDS = 4;
export const MAX_SHARDS = 100;
/** How long a process uses a layout that it has read. */
const MAX_AGE_MILLISECONDS = 60_000;
/** How long after its beginning every process searches a new generation too, so that sessions may be put into it. */
const ANNOUNCED_MILLISECONDS = 2 * MAX_AGE_MILLISECONDS;
/** How long after that beginning no write that puts a session into the generation before is under way any more. */
const SETTLED_MILLISECONDS = 15 * MAX_AGE_MILLISECONDS;

/**
 * The shards of the indexes. Their number can be raised while the table is in use. First, a new generation is announced, and
 * all processes search both. Then each write, and `prune`, put sessions into the new one. When the generation before is
 * empty, and no process can put a session there any more, lists stop searching it.
 */
export class Shards {
  private readonly table: Table;
  private readonly clock: Clock;
  private readonly wanted: number | undefined;
  private known: { readonly layout: Layout; readonly at: Instant } | undefined;
  private reading: Promise<Layout> | undefined;

  /** @param wanted the least number of shards; `undefined`: as many as there are */
  constructor(table: Table, clock: Clock, wanted: number | undefined) {
    this.table = table;
    this.clock = clock;
    this.wanted = wanted;
  }

  /**
   * Makes sure that sessions are kept as this release keeps them.
   * @throws StateFormatError when they are not, `STATE_VERSION` when a newer release keeps them; RangeError
   * `ARGUMENT_INVALID` when the number of shards is to be raised twice at once.
   */
  async checked(): Promise<void> {
    await this.layout();
  }

  /** The generations that sessions may be in, oldest first: sessions move to a later one. */
  async live(): Promise<readonly Generation[]> {
    const { current, before, isMoving } = await this.layout();
    return isMoving && before ? [before, current] : [current];
  }

  /** The shard that an item of a partition is put into. */
  async of(pk: string): Promise<string> {
    const { current, before, isMoving, began } = await this.layout();
    const isAnnounced = this.clock.now() >= began + ANNOUNCED_MILLISECONDS;
    return shardOf(pk, before && isMoving && !isAnnounced ? before : current);
  }

  /** The generation that items are to leave, also when it has ended: a stalled process may still have put one there. */
  async left(): Promise<Generation | undefined> {
    const { before, began } = await this.layout();
    return this.clock.now() >= began + ANNOUNCED_MILLISECONDS ? before : undefined;
  }

  /** Ends the generation before, which was found empty, unless a write to it may still be under way. */
  async retire(): Promise<void> {
    const layout = await this.layout();
    const { rev, isMoving, began } = layout;
    if (!isMoving || this.clock.now() < began + SETTLED_MILLISECONDS) return;
    await this.replaced(rev, { ...layout, rev: rev + 1, isMoving: false });
  }

  private layout(): Promise<Layout> {
    const [now, { known }] = [this.clock.now(), this];
    if (known && now >= known.at && now < known.at + MAX_AGE_MILLISECONDS)
      return Promise.resolve(known.layout);
    this.reading ??= this.read(now).finally(() => {
      this.reading = undefined;
    });
    return this.reading;
  }

  private async read(now: Instant): Promise<Layout> {
    for (;;) {
      const item = await this.table.get(META);
      const layout = item && layoutOf(this.table, item);
      const next = layout ? this.grown(layout, now) : firstLayout(this.wanted ?? FIRST_SHARDS, now);
      if (next && !(await this.replaced(layout?.rev, next))) continue;
      this.known = { layout: next ?? (layout as Layout), at: now };
      return this.known.layout;
    }
  }

  /** @throws RangeError `ARGUMENT_INVALID` when more shards are wanted while sessions move to those that there are. */
  async refuseThird(): Promise<void> {
    const { current, before } = await this.layout();
    const { wanted = 0 } = this;
    if (wanted <= current.shards) return;
    throw invalidArgument(
      `shards cannot be raised to ${wanted}: the table ${JSON.stringify(this.table.TableName)} is being moved from ${before?.shards} to ${current.shards} shards. Call prune() until that is done, at least ${SETTLED_MILLISECONDS / 60_000} minutes after it began; work with at most ${current.shards} shards until then.`,
    );
  }

  /** The layout with the number of shards that is wanted; `undefined` when there are as many, or sessions still move. */
  private grown({ rev, current, before, isMoving }: Layout, began: Instant): Layout | undefined {
    const { wanted = 0 } = this;
    if (wanted <= current.shards || (isMoving && before)) return undefined;
    const next = { number: current.number + 1, shards: wanted };
    return { rev: rev + 1, current: next, before: current, began, isMoving: true };
  }

  /** Writes the layout, if it is still the one with this number; `false` when another process was faster. */
  private async replaced(rev: number | undefined, layout: Layout): Promise<boolean> {
    const { isDone } = await this.table.flip(layoutItem(layout), rev === undefined ? undefined : String(rev));
    this.known = undefined;
    return isDone;
  }
}

function firstLayout(shards: number, began: Instant): Layout {
  return { rev: 1, current: { number: 1, shards }, before: undefined, began, isMoving: false };
}

function layoutItem({ rev, current, before, began, isMoving }: Layout): Item {
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

/** @throws StateFormatError */
function layoutOf(table: Table, item: Item): Layout {
  const number = (name: string): number => Number(item[name]?.N);
  const schema = number('schema');
  if (schema !== SCHEMA) {
    const code = schema > SCHEMA ? 'STATE_VERSION' : 'STATE_FORMAT';
    throw unknownLayout(table, `schema ${SCHEMA}`, `schema ${schema}`, code);
  }
  const current = { number: number('generation'), shards: number('shards') };
  const before = item['before'] && { number: current.number - 1, shards: number('before') };
  for (const { shards } of before ? [before, current] : [current]) {
    if (Number.isInteger(shards) && shards >= 1 && shards <= MAX_SHARDS) continue;
    throw unknownLayout(table, `1 to ${MAX_SHARDS} shards`, `${shards} shards`, 'STATE_FORMAT');
  }
  const [rev, began] = [Number(item['rev']?.S), number('began')];
  if (!Number.isInteger(current.number) || !Number.isInteger(rev) || !Number.isInteger(began)) {
    throw unknownLayout(table, 'a generation of shards', JSON.stringify(item), 'STATE_FORMAT');
  }
  return { rev, current, before, began, isMoving: item['moving'] !== undefined };
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
