import { carriedOut } from '@holdfast/core';
import type {
  DueSession,
  Instant,
  RecordChange,
  ResolvedDueQuery,
  ResolvedSessionQuery,
  SavePlan,
  SessionBackend,
  SessionInfo,
  SessionRecord,
  StoreCapabilities,
  StoredSession,
} from '@holdfast/core';
import { flipsOf, nextSweep, revOf, toItem } from './header.ts';
import type { Header, IndexOptions } from './header.ts';
import type { Item } from './item-size.ts';
import { HEADER, inboxPrefix, partitionOf, partKeys } from './keys.ts';
import { keysOf, newPartId, toParts } from './parts.ts';
import type { Parts } from './parts.ts';
import { MAX_VALUE_BYTES, refuseTooLarge, splitPlan, wholePlan } from './plan-entries.ts';
import { endOf, inboxNames, newSegment, toEntries } from './session-log.ts';
import type { LogEnd, LogEntries } from './session-log.ts';
import { SessionReader } from './session-reader.ts';
import { SessionIndex } from './session-index.ts';
import { tidily } from './sweeper.ts';
import type { Sweeper } from './sweeper.ts';
import type { Table } from './table.ts';

export interface BackendOptions extends IndexOptions {
  /** A segment of so many entries may be written anew. */
  readonly compactAfter: number;
}

/** So many others may write while one waits for a reply. */
const FLIPS_KEPT = 4;

/** What is to be written of a session before its header. */
interface Staged {
  readonly header: Header;
  readonly items: readonly Item[];
}

/**
 * Stages, then flips: what is new is written first, under names that nothing knows; then one conditional write of the
 * header, which names it, makes it true.
 */
export class DynamoDbBackend implements SessionBackend {
  readonly capabilities: StoreCapabilities = {
    listing: 'eventual',
    clock: 'client',
    maxValueBytes: MAX_VALUE_BYTES,
  };
  private readonly table: Table;
  private readonly reader: SessionReader;
  private readonly sweeper: Sweeper;
  private readonly index: SessionIndex;
  private readonly options: BackendOptions;

  constructor(table: Table, sweeper: Sweeper, options: BackendOptions) {
    this.table = table;
    this.reader = new SessionReader(table);
    this.sweeper = sweeper;
    this.index = new SessionIndex(table, options);
    this.options = options;
  }

  async read(sessionId: string): Promise<SessionRecord | undefined> {
    return (await this.reader.header(partitionOf(sessionId)))?.record;
  }

  readAll(sessionId: string): Promise<StoredSession | undefined> {
    return this.reader.session(sessionId);
  }

  readItems(
    sessionId: string,
    incarnation: string,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, string>> {
    return this.reader.inboxItems(sessionId, incarnation, ids);
  }

  async swap(
    sessionId: string,
    before: SessionRecord | undefined,
    after: SessionRecord | undefined,
    change: RecordChange,
  ): Promise<boolean> {
    const pk = partitionOf(sessionId);
    if (after === undefined) return before !== undefined && this.sweeper.retire(pk, before);
    const known = before && (await this.reader.headerOf(pk, before));
    if (before && known === undefined) return false;
    const staged = await this.staged(pk, known, after, change);
    if (staged === undefined) return false;
    const { header, items } = staged;
    const item = await toItem(header, this.options);
    const isReplaced = before !== undefined && before.incarnation !== after.incarnation;
    if (isReplaced) await this.sweeper.announce(pk, before.incarnation);
    if (items.length > 0) await this.table.putParts(items);
    const isDone = await this.flip(item, before, items);
    if (!isDone) return false;
    this.reader.remembered(header);
    await tidily(() => this.tidyUp(pk, known, header));
    return true;
  }

  list(query: ResolvedSessionQuery, now: Instant): Promise<readonly SessionInfo[]> {
    return this.index.list(query, now);
  }

  due(query: ResolvedDueQuery, now: Instant): Promise<readonly DueSession[]> {
    return this.index.due(query, now);
  }

  prune(now: Instant, limit: number): Promise<number> {
    return this.sweeper.prune(now, limit);
  }

  async close(): Promise<void> {}

  /** What a change needs to have written first, and the header that makes it true. */
  private async staged(
    pk: string,
    known: Header | undefined,
    after: SessionRecord,
    { plan, enqueue }: RecordChange,
  ): Promise<Staged | undefined> {
    const kept = known?.record.incarnation === after.incarnation ? known : undefined;
    const entries = plan ? await this.entries(pk, kept, after, plan) : kept && { items: [], ...kept };
    if (entries === undefined) return undefined;
    const names = kept ? inboxNames(kept) : new Map<string, string>();
    const items = [...entries.items];
    if (enqueue) {
      const parts = await inboxParts(pk, after.incarnation, enqueue.item);
      names.set(enqueue.id, parts.name);
      items.push(...parts.items);
    }
    const header: Header = {
      record: after,
      entry: entries.entry,
      log: entries.log,
      inbox: (after.inbox?.ids ?? []).map((id) => names.get(id) ?? ''),
      flips: [...(kept?.flips ?? []).slice(1 - FLIPS_KEPT), newPartId()],
      sweepAt: nextSweep(kept?.sweepAt, after),
    };
    return { header, items };
  }

  /** The entries for a plan; `undefined` when it turns out that somebody else has written. */
  private async entries(
    pk: string,
    kept: Header | undefined,
    after: SessionRecord,
    plan: SavePlan,
  ): Promise<LogEntries | undefined> {
    const { incarnation, info } = after;
    refuseTooLarge(info.sessionId, plan);
    const add = (added: SavePlan, end: LogEnd): Promise<LogEntries> => {
      const attributes = kept ? undefined : this.sweeper.marks(pk, info.updatedAt);
      return toEntries(splitPlan(added), end, { pk, incarnation, attributes });
    };
    if (kept === undefined || plan.isWhole) return add(plan, newSegment(kept));
    if (!this.isCompactionDue(kept)) return add(plan, endOf(kept));
    const stored = await this.reader.session(info.sessionId);
    if (stored === undefined || revOf(stored.record) !== revOf(kept.record)) return undefined;
    return add(wholePlan(carriedOut(stored.saved, plan)), newSegment(kept));
  }

  /** What is written anew is then no more than was added since: a long session costs each save the same. */
  private isCompactionDue({ log: { entries, bytes, base } }: Header): boolean {
    return entries >= this.options.compactAfter && bytes - base >= base;
  }

  private async flip(
    item: Item,
    before: SessionRecord | undefined,
    staged: readonly Item[],
  ): Promise<boolean> {
    const { isDone, isDoubtful } = await this.table.flip(item, before && revOf(before));
    if (isDone) return true;
    if (isDoubtful) {
      const there = await this.table.get({ pk: item['pk']?.S ?? '', sk: HEADER });
      return flipsOf(there).includes(flipsOf(item).at(-1) ?? '');
    }
    await tidily(() => this.table.deleteEach(keysOf(staged)));
    return false;
  }

  private async tidyUp(pk: string, known: Header | undefined, header: Header): Promise<void> {
    if (known === undefined) return;
    const { incarnation } = header.record;
    if (known.record.incarnation !== incarnation) {
      await this.sweeper.clear(pk, known.record.incarnation);
      return;
    }
    const { segment } = endOf(header);
    if (endOf(known).segment !== segment) await this.sweeper.clearBefore(pk, incarnation, segment);
    const used = known.inbox.filter((name) => !header.inbox.includes(name));
    const keys = used.flatMap((name) => partKeys(inboxPrefix(incarnation), name));
    await this.table.deleteEach(keys.map((sk) => ({ pk, sk })));
  }
}

function inboxParts(pk: string, incarnation: string, text: string): Promise<Parts> {
  const id = newPartId();
  return toParts({ pk, prefix: inboxPrefix(incarnation), nameOf: (count) => `${id}#${count}`, text });
}
