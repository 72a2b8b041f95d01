import { hasErrorCode } from '@holdfast/core';
import { isExpired, recordName } from '@holdfast/core/store';
import type { Instant } from '@holdfast/core';
import { blobsNeeded } from './blobs.ts';
import { fromItem, liveIncarnation } from './header.ts';
import type { Header } from './header.ts';
import type { Inbox } from './inbox.ts';
import type { Item } from './item-size.ts';
import {
  blobPrefix,
  HEADER,
  incarnationOf,
  instantKey,
  isBlobNote,
  isMarker,
  logPrefix,
  segmentPrefix,
  shardsOf,
  ticketKey,
} from './keys.ts';
import type { ItemKey } from './keys.ts';
import { keysOf } from './parts.ts';
import type { SessionBlobs } from './session-blobs.ts';
import type { SweepMarks } from './sweep-marks.ts';
import type { Shards } from './shards.ts';
import type { Table } from './table.ts';

export interface SweeperInit {
  readonly table: Table;
  readonly inbox: Inbox;
  readonly shards: Shards;
  readonly marks: SweepMarks;
  readonly blobs: SessionBlobs | undefined;
}

/**
 * Takes away what no header names. Only incarnations that are dead are swept as a whole: they never come back, so no
 * writer that is still at work can be hurt, however slow.
 */
export class Sweeper {
  private readonly table: Table;
  private readonly inbox: Inbox;
  private readonly shards: Shards;
  private readonly marks: SweepMarks;
  private readonly blobs: SessionBlobs | undefined;

  constructor({ table, inbox, shards, marks, blobs }: SweeperInit) {
    this.table = table;
    this.inbox = inbox;
    this.shards = shards;
    this.marks = marks;
    this.blobs = blobs;
  }

  /** Notes that an incarnation is about to die, so that what is left of it is found if this process dies first. */
  async announce(pk: string, incarnation: string): Promise<void> {
    // Only those who reach its blobs may take such a note for done.
    const sk = this.blobs ? blobPrefix(incarnation) : ticketKey(incarnation);
    await this.table.put({ pk: { S: pk }, sk: { S: sk }, ...(await this.marks(pk)) });
  }

  private async recall(pk: string, incarnation: string): Promise<void> {
    await this.table.deleteEach([{ pk, sk: ticketKey(incarnation) }]);
  }

  /**
   * Deletes a session, if the record is still there: for readers at once, and then all that it was made of.
   * @throws StateFormatError when it has blobs that this store does not reach.
   */
  async retire(pk: string, { record, hasBlobs }: Header): Promise<boolean> {
    if (hasBlobs && this.blobs === undefined) throw blobsNeeded(record.info.sessionId);
    const { incarnation } = record;
    await this.announce(pk, incarnation);
    const { isDone, isDoubtful } = await this.table.dropHeader(pk, recordName(record));
    // Where it was not deleted the note stays: others may rely on it, and it hurts nobody.
    if (!isDone && !(isDoubtful && (await this.isDead(pk, incarnation)))) return false;
    await tidily(() => this.clear(pk, incarnation));
    return true;
  }

  /** Deletes all that an incarnation was made of, whose header is gone, and the note of it. */
  async clear(pk: string, incarnation: string): Promise<void> {
    await this.deleteRange(pk, logPrefix(incarnation), `${logPrefix(incarnation)}:`);
    await this.inbox.clear({ pk, incarnation });
    await this.blobs?.clear({ pk, incarnation });
    await this.recall(pk, incarnation);
  }

  /** Deletes the segments of a log before one. */
  async clearBefore(pk: string, incarnation: string, segment: number): Promise<void> {
    await this.deleteRange(pk, logPrefix(incarnation), segmentPrefix(incarnation, segment));
  }

  /** Sweeps what is due for it; how many sessions had expired, at most `limit`. */
  async prune(now: Instant, limit: number): Promise<number> {
    let pruned = 0;
    const collected = new Set<string>();
    for (const shard of (await this.shards.live()).flatMap(shardsOf)) {
      for await (const items of this.table.shardPages('sweep', shard, { to: instantKey(now) })) {
        for (const item of items) {
          if (await readable(this.sweep(item, now, collected))) pruned += 1;
          if (pruned === limit) return pruned;
        }
      }
    }
    return pruned;
  }

  /** Looks at one item of the index. `true` when it was a session that had expired. */
  private async sweep({ pk, sk, sweep }: Item, now: Instant, collected: Set<string>): Promise<boolean> {
    const key = { pk: pk?.S ?? '', sk: sk?.S ?? '' };
    const incarnation = incarnationOf(key.sk);
    if (isBlobNote(key.sk)) {
      // The first of an incarnation stands for the others.
      const all = JSON.stringify([key.pk, incarnation]);
      if (this.blobs === undefined || collected.has(all)) return false;
      collected.add(all);
    }
    if (isMarker(key.sk) && this.blobs === undefined) return false;
    const header = await this.table.get({ pk: key.pk, sk: HEADER });
    if (key.sk === HEADER) return header !== undefined && this.sweepSession(key.pk, header, now);
    if (header === undefined || liveIncarnation(header) !== incarnation) {
      await this.clear(key.pk, incarnation);
    } else if (isMarker(key.sk)) await this.sweepMarker(key, await fromItem(header), sweep?.S ?? '', now);
    else if (isBlobNote(key.sk)) await this.blobs?.collect(key.pk, now);
    else if (key.sk === ticketKey(incarnation)) await this.recall(key.pk, incarnation);
    else await this.table.change(key, 'sweep', sweep?.S ?? '', undefined);
    return false;
  }

  private async sweepSession(pk: string, item: Item, now: Instant): Promise<boolean> {
    const header = await fromItem(item);
    const { expiresAt } = header.record;
    if (isExpired(header.record, now)) return this.retire(pk, header);
    const to = expiresAt === undefined ? undefined : instantKey(expiresAt);
    await this.table.change({ pk, sk: HEADER }, 'sweep', item['sweep']?.S ?? '', to);
    return false;
  }

  private async sweepMarker(key: ItemKey, header: Header, from: string, now: Instant): Promise<void> {
    if (await this.inbox.sweep(key, header)) return;
    const { sweep } = await this.marks(key.pk, now);
    await this.table.change(key, 'sweep', from, sweep?.S);
  }

  private async isDead(pk: string, incarnation: string): Promise<boolean> {
    return liveIncarnation(await this.table.get({ pk, sk: HEADER })) !== incarnation;
  }

  private async deleteRange(pk: string, from: string, to: string): Promise<void> {
    const pages = this.table.pages({
      KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
      ExpressionAttributeValues: { ':pk': { S: pk }, ':from': { S: from }, ':to': { S: to } },
      ProjectionExpression: 'pk, sk',
      ConsistentRead: true,
    });
    for await (const items of pages) await this.table.deleteEach(keysOf(items));
  }
}

/** What cannot be read is left as it is, and does not keep the rest from being swept. */
async function readable(sweep: Promise<boolean>): Promise<boolean> {
  return sweep.catch((error: unknown) => {
    if (hasErrorCode(error, 'STATE_FORMAT') || hasErrorCode(error, 'STATE_VERSION')) return false;
    throw error;
  });
}

/** What has been done stays done, whether or not the tidying up after it succeeds: `prune` comes back to it. */
export async function tidily(tidyUp: () => Promise<unknown>): Promise<void> {
  await tidyUp().catch((error: unknown) => {
    if (!hasErrorCode(error, 'STORE_UNAVAILABLE') && !hasErrorCode(error, 'STORE_THROTTLED')) throw error;
  });
}
