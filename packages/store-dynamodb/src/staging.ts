import { carriedOut } from '@holdfast/core';
import type { RecordChange, SavePlan, SessionRecord } from '@holdfast/core';
import { blobsOfInbox, dyingBlobs } from './blob-notes.ts';
import type { DyingBlob } from './blob-notes.ts';
import { nextSweep, revOf } from './header.ts';
import type { Header } from './header.ts';
import type { Item } from './item-size.ts';
import { inboxPrefix } from './keys.ts';
import type { ItemKey } from './keys.ts';
import { offloadedPlan, offloadedText, referencesIn, textsIn, textsOf } from './large-values.ts';
import type { NewBlob, Offloaded } from './large-values.ts';
import { keysOf, newPartId, toParts } from './parts.ts';
import { refuseTooLarge, splitPlan, wholePlan } from './plan-entries.ts';
import { endOf, inboxNames, newSegment, toEntries } from './session-log.ts';
import type { LogEnd, LogEntries } from './session-log.ts';
import type { KeptSession, SessionReader } from './session-reader.ts';
import type { SweepMarks } from './sweep-marks.ts';

export interface StagingOptions {
  readonly reader: SessionReader;
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
  readonly blobs: readonly NewBlob[];
  /** What the header refers to no more. */
  readonly dying: readonly DyingBlob[];
  /** The items and blobs, those too that are there from an earlier turn. */
  readonly own: OwnParts;
}

type StagedLog = LogEntries & Pick<Staged, 'blobs' | 'dying' | 'own'>;

/** What is there for a plan, and the header that it goes on from. */
interface KeptLog {
  readonly base: Header;
  readonly log: StagedLog;
}

/** So many others may write while one waits for a reply. */
const FLIPS_KEPT = 4;
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
    const names = kept ? inboxNames(kept) : new Map<string, string>();
    const added = enqueue && (await this.inboxItem(pk, after.incarnation, enqueue.item));
    if (enqueue && added) names.set(enqueue.id, added.name);
    const inbox = (after.inbox?.ids ?? []).map((id) => names.get(id) ?? '');
    const used = kept?.inbox.filter((name) => !inbox.includes(name)) ?? [];
    const { items, blobs } = added ?? NOTHING;
    const own = ownParts(items, blobs, log.own);
    const header: Header = {
      record: after,
      entry: log.entry,
      log: log.log,
      inbox,
      flips: [...(kept?.flips ?? []).slice(1 - FLIPS_KEPT), newPartId()],
      sweepAt: nextSweep(kept?.sweepAt, after),
      hasBlobs: (kept?.hasBlobs ?? false) || own.refs.length > 0,
      fence: kept?.fence,
    };
    const dying = [...log.dying, ...blobsOfInbox(used).map((ref) => ({ ref, isSettled: true }))];
    return { header, items: [...log.items, ...items], blobs: [...log.blobs, ...blobs], dying, own };
  }

  /**
   * Keeps in mind what is there for a plan whose header was refused, for the next turn with it; `false` when that would
   * not fit what is there now, and it is to be taken away.
   */
  keep(plan: SavePlan, base: Header, { header, dying, own }: Staged, there: Header | undefined): boolean {
    // With another claim the writer is as good as refused.
    const isSame = there && goesOn(base, there) && there.record.epoch === base.record.epoch;
    if (!isSame || header.record.incarnation !== base.record.incarnation) return false;
    const { entry, log } = header;
    this.keptFor.set(plan, { base, log: { ...NOTHING, entry, log, dying, own } });
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
    if (there && kept && goesOn(there.base, kept)) return stillDying(there.log, kept);
    if (blobsFrom === undefined) refuseTooLarge(info.sessionId, plan);
    const add = async ({ content, blobs }: Offloaded<SavePlan>, end: LogEnd): Promise<StagedLog> => {
      const attributes = kept ? undefined : marks(pk, info.updatedAt);
      const entries = await toEntries(splitPlan(content), end, { pk, incarnation, attributes });
      return { ...entries, blobs, dying: [], own: ownParts(entries.items, blobs) };
    };
    const isCompaction = kept !== undefined && !plan.isWhole && this.isCompactionDue(kept);
    const isReplaced = isCompaction || (plan.isWhole && kept?.hasBlobs === true);
    if (!isReplaced) {
      const added = await this.offloaded(plan);
      return add(added, kept && !plan.isWhole ? grownBy(added.blobs, endOf(kept)) : newSegment(kept));
    }
    const old = await reader.kept(pk);
    if (old === undefined || revOf(old.header.record) !== revOf(kept.record)) return undefined;
    const added = await this.offloaded(plan, referencesIn(textsIn(wholePlan(old.content.saved))));
    const content = wholePlan(carriedOut(old.content.saved, added.content));
    const log = await add({ ...added, content }, newSegment(kept));
    return { ...log, dying: droppedBlobs(old, content) };
  }

  private async offloaded(plan: SavePlan, inUse?: ReadonlySet<string>): Promise<Offloaded<SavePlan>> {
    const { blobsFrom } = this.options;
    return blobsFrom === undefined ? { content: plan, blobs: [] } : offloadedPlan(plan, blobsFrom, inUse);
  }

  private async inboxItem(
    pk: string,
    incarnation: string,
    item: string,
  ): Promise<Pick<Staged, 'items' | 'blobs'> & { readonly name: string }> {
    const { blobsFrom = Number.POSITIVE_INFINITY } = this.options;
    const { content: text, blobs } = await offloadedText(item, blobsFrom);
    const id = blobs[0]?.ref ?? newPartId();
    const { name, items } = await toParts({
      pk,
      prefix: inboxPrefix(incarnation),
      nameOf: (count) => `${id}#${count}`,
      text,
    });
    return { name, items, blobs };
  }

  /** What is written anew is then no more than was added since: a long session costs each save the same. */
  private isCompactionDue({ log: { entries, bytes, base } }: Header): boolean {
    return entries >= this.options.compactAfter && bytes - base >= base;
  }
}

/** Does what was staged to follow the one header follow the other too? Nothing of it was swept away since. */
function goesOn(base: Header, { entry, fence }: Header): boolean {
  return base.entry === entry && base.fence === fence;
}

/** A log as it was worked out in an earlier turn. A blob that was on its way then may be in the inbox now. */
function stillDying(log: StagedLog, { inbox }: Header): StagedLog {
  const arrived = blobsOfInbox(inbox);
  return { ...log, dying: log.dying.filter(({ ref }) => !arrived.includes(ref)) };
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
function droppedBlobs({ content, notes }: KeptSession, plan: SavePlan): DyingBlob[] {
  const before = referencesIn(textsOf(content));
  const live = referencesIn([...textsIn(plan), ...content.inbox.values()]);
  return dyingBlobs(notes, live, ({ name, sweep }) => sweep === undefined || before.has(name));
}
