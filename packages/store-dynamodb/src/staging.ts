import { carriedOut, recordName } from '@holdfast/core/store';
import type { RecordChange, SavePlan, SessionRecord } from '@holdfast/core/store';
import { dyingBlobs } from './blob-notes.ts';
import type { DyingBlob } from './blob-notes.ts';
import { flipsAfter, nextSweep } from './header.ts';
import type { Header } from './header.ts';
import type { Inbox, StagedItem } from './inbox.ts';
import type { Item } from './item-size.ts';
import type { ItemKey } from './keys.ts';
import { offloadedPlan, referencesIn, referencesOf, textsIn } from './large-values.ts';
import type { NewBlob, Offloaded } from './large-values.ts';
import { keysOf } from './parts.ts';
import { refuseTooLarge, splitPlan, wholePlan } from './plan-entries.ts';
import { endOf, headForHeader, newSegment, toEntries } from './session-log.ts';
import type { LogEnd, LogEntries } from './session-log.ts';
import type { KeptSession, SessionReader } from './session-reader.ts';
import type { SweepMarks } from './sweep-marks.ts';

export interface StagingOptions {
  readonly reader: SessionReader;
  readonly inbox: Inbox;
  readonly marks: SweepMarks;
  /** A segment of so many entries may be written anew. */
  readonly compactAfter: number;
  /** Values of so many bytes are blobs; absent: none. */
  readonly blobsFrom: number | undefined;
}

/** What only one header names: who is refused takes it away. */
interface OwnParts {
  readonly keys: readonly ItemKey[];
  readonly refs: readonly string[];
}

/** What is to be written of a session before its header. */
export interface Staged {
  readonly header: Header;
  readonly items: readonly Item[];
  /** Blobs of the log, each of which needs a note. */
  readonly blobs: readonly NewBlob[];
  /** An item of the inbox, whose marker is the note of its blob. */
  readonly item: StagedItem | undefined;
  /** What the header refers to no more. */
  readonly dying: readonly DyingBlob[];
  /** The items and blobs, those too that are there from an earlier turn. */
  readonly own: OwnParts;
}

type StagedLog = LogEntries & Pick<Header, 'head'> & Pick<Staged, 'blobs' | 'dying' | 'own'>;

/** What is there for a plan, and the header that it goes on from. */
interface KeptLog {
  readonly base: Header;
  readonly log: StagedLog;
}

const NOTHING: Pick<StagedLog, 'items' | 'blobs' | 'dying' | 'own'> = {
  items: [],
  blobs: [],
  dying: [],
  own: { keys: [], refs: [] },
};

/** Works out what a change needs to have written first, and the header that makes it true. */
export class Staging {
  private readonly options: StagingOptions;
  private readonly keptFor = new WeakMap<SavePlan, KeptLog>();

  constructor(options: StagingOptions) {
    this.options = options;
  }

  /** `undefined` when it turns out that somebody else has written. */
  async staged(
    pk: string,
    known: Header | undefined,
    after: SessionRecord,
    { plan, enqueue }: RecordChange,
  ): Promise<Staged | undefined> {
    const kept = known?.record.incarnation === after.incarnation ? known : undefined;
    const log = plan ? await this.log(pk, kept, after, plan) : kept && { ...NOTHING, ...kept };
    if (log === undefined) return undefined;
    const owner = { pk, incarnation: after.incarnation };
    const item = enqueue && (await this.options.inbox.staged(owner, enqueue, kept?.lastItem));
    const { items, blobs, dying } = log;
    const own = item ? ownParts(item.items, item.blobs, log.own) : log.own;
    const header: Header = {
      record: after,
      entry: log.entry,
      log: log.log,
      head: log.head,
      lastItem: item?.unique ?? kept?.lastItem,
      flips: kept ? flipsAfter(kept) : [],
      sweepAt: nextSweep(kept?.sweepAt, after),
      hasBlobs: (kept?.hasBlobs ?? false) || own.refs.length > 0,
      fence: kept?.fence,
    };
    return { header, items, blobs, item, dying, own };
  }

  /**
   * Keeps in mind what is there for a plan whose header was refused, for the next turn with it; `false` when that would
   * not fit what is there now, and it is to be taken away.
   */
  keep(plan: SavePlan, base: Header, { header, dying, own }: Staged, there: Header | undefined): boolean {
    // With another claim the writer is as good as refused.
    const isSame = there && goesOn(base, there) && there.record.epoch === base.record.epoch;
    if (!isSame || header.record.incarnation !== base.record.incarnation) return false;
    const { entry, log, head } = header;
    this.keptFor.set(plan, { base, log: { ...NOTHING, entry, log, head, dying, own } });
    return true;
  }

  private async log(
    pk: string,
    kept: Header | undefined,
    after: SessionRecord,
    plan: SavePlan,
  ): Promise<StagedLog | undefined> {
    const { blobsFrom, marks, reader } = this.options;
    const { incarnation, info } = after;
    const there = this.keptFor.get(plan);
    if (there && kept && goesOn(there.base, kept)) return there.log;
    if (blobsFrom === undefined) refuseTooLarge(info.sessionId, plan);
    const head = headForHeader(plan);
    const change = head === undefined ? plan : { ...plan, head: '' };
    const isCompaction = kept !== undefined && !plan.isWhole && this.isCompactionDue(kept);
    if (kept && isEmpty(change) && !isCompaction)
      return { ...NOTHING, entry: kept.entry, log: kept.log, head };
    const add = async ({ content, blobs }: Offloaded<SavePlan>, end: LogEnd): Promise<StagedLog> => {
      const attributes = kept ? undefined : await marks(pk, info.updatedAt);
      const entries = await toEntries(splitPlan(content), end, { pk, incarnation, attributes });
      return { ...entries, head, blobs, dying: [], own: ownParts(entries.items, blobs) };
    };
    const isReplaced = isCompaction || (plan.isWhole && kept?.hasBlobs === true);
    if (!isReplaced) {
      const added = await this.offloaded(change);
      return add(added, kept && !plan.isWhole ? grownBy(added.blobs, endOf(kept)) : newSegment(kept));
    }
    const old = await reader.kept(pk);
    if (old === undefined || recordName(old.header.record) !== recordName(kept.record)) return undefined;
    const added = await this.offloaded(change, referencesOf(old.saved));
    const content = wholePlan(carriedOut(old.saved, added.content));
    const log = await add({ ...added, content }, newSegment(kept));
    return { ...log, dying: droppedBlobs(old, content) };
  }

  private async offloaded(plan: SavePlan, inUse?: ReadonlySet<string>): Promise<Offloaded<SavePlan>> {
    const { blobsFrom } = this.options;
    return blobsFrom === undefined ? { content: plan, blobs: [] } : offloadedPlan(plan, blobsFrom, inUse);
  }

  /** What is written anew is then no more than was added since: a long session costs each save the same. */
  private isCompactionDue({ log: { entries, bytes, base } }: Header): boolean {
    return entries >= this.options.compactAfter && bytes - base >= base;
  }
}

/** Does what was staged to follow the one header follow the other too? Nothing of it was swept away since. */
function goesOn(base: Header, { entry, fence, record }: Header): boolean {
  return base.entry === entry && base.fence === fence && base.record.contentToken === record.contentToken;
}

/** Whether nothing of a plan needs an entry of the log. */
function isEmpty({ isWhole, head, values, lists }: SavePlan): boolean {
  return !isWhole && head === '' && values.size === 0 && lists.length === 0;
}

function ownParts(
  items: readonly Item[],
  blobs: readonly NewBlob[],
  { keys, refs }: OwnParts = NOTHING.own,
): OwnParts {
  return { keys: [...keys, ...keysOf(items)], refs: [...refs, ...blobs.map(({ ref }) => ref)] };
}

/** Blobs that are added count, so that those which they replace are found in time; a log written anew takes its own over. */
function grownBy(blobs: readonly NewBlob[], end: LogEnd): LogEnd {
  const added = blobs.reduce((total, { payload }) => total + payload.length, 0);
  return { ...end, log: { ...end.log, bytes: end.log.bytes + added } };
}

/** What a session had, or a writer that will not come to it has, and what it will not have once it is as given. */
function droppedBlobs({ saved, notes }: KeptSession, plan: SavePlan): DyingBlob[] {
  const before = referencesOf(saved);
  const live = referencesIn(textsIn(plan));
  return dyingBlobs(notes, live, ({ name, sweep }) => sweep === undefined || before.has(name));
}
