import {
  applySavePlan,
  recordName,
  type RecordChange,
  type SavePlan,
  type SessionRecord,
} from '@holdfast/core/store';
import type { Archives, StagedEntries } from '../archives/archives.ts';
import { unusedBlobs, type UnusedBlob } from '../blobs/blob-notes.ts';
import {
  offloadPlan,
  referencesInPlan,
  referencesInSession,
  type NewBlob,
  type Offloaded,
} from '../blobs/references.ts';
import { nextFlips, nextSweepAt, type Header } from '../header/header.ts';
import type { Inbox, StagedItem } from '../inbox/inbox.ts';
import { checkTextSizes, splitPlan, wholePlan } from '../log/plan-entries.ts';
import {
  endOfLog,
  headForHeader,
  newSegment,
  toEntries,
  withBytes,
  type LogEnd,
  type LogEntries,
} from '../log/session-log.ts';
import type { SweepMarks } from '../shards/sweep-marks.ts';
import { keyOf, type Item } from '../table/item.ts';
import type { IncarnationKey, ItemKey } from '../table/keys.ts';
import type { SessionLoader, UnresolvedSession } from './session-loader.ts';

export interface StagingInit {
  readonly loader: SessionLoader;
  readonly inbox: Inbox;
  readonly archives: Archives;
  readonly marks: SweepMarks;
  /** The number of entries from which a segment may be compacted. */
  readonly compactAfterSaves: number;
  /** The size from which a value becomes a blob, in bytes. If it is absent, no value does. */
  readonly blobsFromBytes: number | undefined;
}

/** Items and blobs that only the new header names. If the header is refused, its writer deletes them. */
interface OwnParts {
  readonly keys: readonly ItemKey[];
  readonly references: readonly string[];
}

/** A new header, and the items and blobs to write before it. */
export interface StagedWrite {
  readonly header: Header;
  /** The entries of the log and of archives. */
  readonly items: readonly Item[];
  /** The blobs of the log, each of which needs a note. */
  readonly blobs: readonly NewBlob[];
  /** A new inbox item. Its marker serves as the note of its blob. */
  readonly item: StagedItem | undefined;
  /** Blobs to which the header no longer refers. */
  readonly unused: readonly UnusedBlob[];
  /** The items and blobs that were staged for this header, also by an earlier attempt. */
  readonly own: OwnParts;
}

type StagedLog = LogEntries & Pick<Header, 'head'> & Pick<StagedWrite, 'blobs' | 'unused' | 'own'>;
type StagedContent = StagedLog & StagedEntries;

/** The staged content of a plan whose header was refused. */
interface EarlierAttempt {
  /** The header that the log continues. */
  readonly base: Header;
  readonly content: StagedContent;
}

const NOTHING: Pick<StagedLog, 'items' | 'blobs' | 'unused' | 'own'> = {
  items: [],
  blobs: [],
  unused: [],
  own: { keys: [], references: [] },
};

/** Computes the items to stage for a change, and the header that makes it take effect. It writes nothing. */
export class Staging {
  private readonly init: StagingInit;
  private readonly attempts = new WeakMap<SavePlan, EarlierAttempt>();

  constructor(init: StagingInit) {
    this.init = init;
  }

  /** Returns the staged write; `undefined` when another writer has changed the session. */
  async prepare(
    pk: string,
    known: Header | undefined,
    after: SessionRecord,
    change: RecordChange,
  ): Promise<StagedWrite | undefined> {
    const base = known?.record.incarnation === after.incarnation ? known : undefined;
    const content = await this.prepareContent(pk, base, after, change);
    if (content === undefined) return undefined;
    const { enqueue } = change;
    const key = { pk, incarnation: after.incarnation };
    const item = enqueue && (await this.init.inbox.stage(key, enqueue, base?.lastItem));
    const { items, blobs, unused } = content;
    const own = item ? addParts(content.own, item.items, item.blobs) : content.own;
    const header: Header = {
      record: after,
      lastEntry: content.lastEntry,
      log: content.log,
      head: content.head,
      lastItem: item?.unique ?? base?.lastItem,
      archives: content.archives,
      flips: base ? nextFlips(base) : [],
      sweepAt: nextSweepAt(base?.sweepAt, after),
      hasBlobs: (base?.hasBlobs ?? false) || own.references.length > 0,
      fence: base?.fence,
    };
    return { header, items, blobs, item, unused, own };
  }

  /**
   * Caches the staged content of a plan whose header was refused, for the next attempt with this plan. Returns `false` when
   * the log does not continue the present header. The caller must then delete it.
   */
  rememberAttempt(
    plan: SavePlan,
    base: Header,
    { header, unused, own }: StagedWrite,
    present: Header | undefined,
  ): boolean {
    // If the epoch has changed, the next attempt will be refused too.
    const canContinue = present && hasSameLog(base, present) && present.record.epoch === base.record.epoch;
    if (!canContinue || header.record.incarnation !== base.record.incarnation) return false;
    const { lastEntry, log, head, archives } = header;
    this.attempts.set(plan, { base, content: { ...NOTHING, lastEntry, log, head, archives, unused, own } });
    return true;
  }

  /** Prepares the log and the archives. Both were staged before if an earlier attempt at this plan had the same log. */
  private async prepareContent(
    pk: string,
    base: Header | undefined,
    after: SessionRecord,
    { plan, archives = [] }: RecordChange,
  ): Promise<StagedContent | undefined> {
    const attempt = plan && this.attempts.get(plan);
    if (attempt && base && hasSameLog(attempt.base, base)) return attempt.content;
    const log = plan ? await this.prepareLog(pk, base, after, plan) : base && { ...NOTHING, ...base };
    if (log === undefined) return undefined;
    const key = { pk, incarnation: after.incarnation, sessionId: after.info.sessionId };
    const staged = await this.init.archives.stage(key, archives, base?.archives);
    const items = [...log.items, ...staged.items];
    return { ...log, items, archives: staged.archives, own: addParts(log.own, staged.items, []) };
  }

  private async prepareLog(
    pk: string,
    base: Header | undefined,
    after: SessionRecord,
    plan: SavePlan,
  ): Promise<StagedLog | undefined> {
    if (this.init.blobsFromBytes === undefined) checkTextSizes(after.info.sessionId, plan);
    const head = headForHeader(plan);
    const change = head === undefined ? plan : { ...plan, head: '' };
    const isCompaction = base !== undefined && !plan.isWhole && this.isCompactionDue(base);
    if (base && isEmpty(change) && !isCompaction)
      return { ...NOTHING, lastEntry: base.lastEntry, log: base.log, head };
    const key = { pk, incarnation: after.incarnation };
    // The first entry of a new incarnation is marked, so that `prune` finds it if the header is never written.
    const attributes = base ? undefined : await this.init.marks(pk, after.info.updatedAt);
    const options = { ...key, attributes };
    const isRewrite = isCompaction || (plan.isWhole && base?.hasBlobs === true);
    const log = isRewrite
      ? await this.rewriteLog(base, change, options)
      : await this.extendLog(base, change, options);
    return log && { ...log, head };
  }

  /** Adds entries at the end of the log. A whole plan and a new session begin a new segment. */
  private async extendLog(
    base: Header | undefined,
    plan: SavePlan,
    options: EntryOptions,
  ): Promise<PreparedEntries> {
    const offloaded = await this.offload(plan);
    const end =
      base && !plan.isWhole ? withBytes(endOfLog(base), bytesOf(offloaded.blobs)) : newSegment(base);
    return newEntries(offloaded, end, options);
  }

  /**
   * Writes the whole session to a new segment, which refers to the blobs of the old one. Returns `undefined` when
   * another writer has changed the session.
   */
  private async rewriteLog(
    base: Header,
    plan: SavePlan,
    options: EntryOptions,
  ): Promise<PreparedEntries | undefined> {
    const old = await this.init.loader.loadUnresolved(options.pk);
    if (old === undefined || recordName(old.header.record) !== recordName(base.record)) return undefined;
    const offloaded = await this.offload(plan, referencesInSession(old.content));
    const content = wholePlan(applySavePlan(old.content, offloaded.content));
    const entries = await newEntries({ ...offloaded, content }, newSegment(base), options);
    return { ...entries, unused: blobsUnusedBy(content, old) };
  }

  private async offload(plan: SavePlan, inUse?: ReadonlySet<string>): Promise<Offloaded<SavePlan>> {
    const { blobsFromBytes } = this.init;
    return blobsFromBytes === undefined
      ? { content: plan, blobs: [] }
      : offloadPlan(plan, blobsFromBytes, inUse);
  }

  /**
   * A compaction writes at most as many bytes as were added since the last one, so the mean cost of a save does not
   * grow.
   */
  private isCompactionDue({ log: { entries, bytes, base } }: Header): boolean {
    return entries >= this.init.compactAfterSaves && bytes - base >= base;
  }
}

type EntryOptions = IncarnationKey & { readonly attributes: Item | undefined };
type PreparedEntries = Omit<StagedLog, 'head'>;

async function newEntries(
  { content, blobs }: Offloaded<SavePlan>,
  end: LogEnd,
  options: EntryOptions,
): Promise<PreparedEntries> {
  const entries = await toEntries(splitPlan(content), end, options);
  return { ...entries, blobs, unused: [], own: addParts(NOTHING.own, entries.items, blobs) };
}

/**
 * Returns whether entries that were staged to follow one header can follow the other, and `prune` has deleted no blobs
 * in between.
 */
function hasSameLog(left: Header, right: Header): boolean {
  return (
    left.lastEntry === right.lastEntry &&
    left.fence === right.fence &&
    left.record.contentToken === right.record.contentToken
  );
}

/** Returns whether a plan needs no entry of the log. */
function isEmpty({ isWhole, head, values, lists }: SavePlan): boolean {
  return !isWhole && head === '' && values.size === 0 && lists.length === 0;
}

function addParts(own: OwnParts, items: readonly Item[], blobs: readonly NewBlob[]): OwnParts {
  return {
    keys: [...own.keys, ...items.map(keyOf)],
    references: [...own.references, ...blobs.map(({ reference }) => reference)],
  };
}

/**
 * The size of new blobs. It counts as growth of the log, so that a compaction runs in time and deletes the blobs that
 * they replaced.
 */
function bytesOf(blobs: readonly NewBlob[]): number {
  return blobs.reduce((total, { payload }) => total + payload.length, 0);
}

/**
 * The blobs that `plan` no longer refers to, or whose header was refused. A note without `sweep` belongs to a blob that
 * was in use, so its writer has finished.
 */
function blobsUnusedBy(plan: SavePlan, { content, notes }: UnresolvedSession): UnusedBlob[] {
  const before = referencesInSession(content);
  return unusedBlobs(
    notes,
    referencesInPlan(plan),
    ({ name, sweep }) => sweep === undefined || before.has(name),
  );
}
