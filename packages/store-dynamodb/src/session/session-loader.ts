import { StateFormatError } from '@holdfast/core';
import {
  applySavePlan,
  missingParts,
  recordName,
  requestedParts,
  type KnownSession,
  type ReadContent,
  type ReadRequest,
  type ReadSession,
  type SavePlan,
  type SessionContent,
  type SessionRecord,
  type StoredSession,
} from '@holdfast/core/store';
import { notesIn, type BlobNote } from '../blobs/blob-notes.ts';
import { blobsRequiredError, missingBlobError, type Blobs } from '../blobs/blobs.ts';
import { referencesInPlan, resolveReferences } from '../blobs/references.ts';
import { headerFromItem } from '../header/header-item.ts';
import type { Header } from '../header/header.ts';
import { addedPlan, addedRange, partsOfPlan } from '../log/added-entries.ts';
import { LOG_END } from '../log/entry-keys.ts';
import { wholePlan } from '../log/plan-entries.ts';
import { missingEntryError, readLog } from '../log/session-log.ts';
import type { Item } from '../table/item.ts';
import { HEADER, partitionOf } from '../table/keys.ts';
import type { KeyRange, Table } from '../table/table.ts';

/** The maximum number of attempts to read a session that other writers change during the read. */
const MAX_ATTEMPTS = 10;

/** A session as it is in the table. */
export interface UnresolvedSession {
  readonly header: Header;
  /** The content, with references in place of large values. */
  readonly content: SessionContent;
  /** All blob notes of the incarnation, also those of blobs that the content does not refer to. */
  readonly notes: readonly BlobNote[];
}

/** Loads sessions, and caches the header of each record that it has read. */
export class SessionLoader {
  private readonly table: Table;
  private readonly blobs: Blobs | undefined;
  private readonly headers = new WeakMap<SessionRecord, Header>();

  constructor(table: Table, blobs: Blobs | undefined) {
    this.table = table;
    this.blobs = blobs;
  }

  async readHeader(pk: string): Promise<Header | undefined> {
    const item = await this.table.get({ pk, sk: HEADER });
    return item && this.remember(await headerFromItem(item));
  }

  /**
   * The header of a record, from the cache or from the table. Returns `undefined` if the table holds another record.
   */
  async headerOf(pk: string, record: SessionRecord): Promise<Header | undefined> {
    const remembered = this.headers.get(record);
    if (remembered) return remembered;
    const header = await this.readHeader(pk);
    return header && recordName(header.record) === recordName(record) ? header : undefined;
  }

  /** Caches a header by its record, and returns it. */
  remember(header: Header): Header {
    this.headers.set(header.record, header);
    return header;
  }

  /** Reads as much of a session as a request demands. */
  async read(sessionId: string, request: ReadRequest): Promise<ReadSession | undefined> {
    if (request.isRecordFirst) {
      const header = await this.readHeader(partitionOf(sessionId));
      if (header === undefined) return undefined;
      const { record, head } = header;
      const needed = request.extent(record);
      if (needed === 'record') return { record };
      if (needed === 'head' && head !== undefined)
        return { record, content: { head, values: new Map(), lists: [] } };
      const added = needed === 'content' ? await this.readAdded(header, request.known) : undefined;
      if (added) return { record, content: added };
    }
    const stored = await this.load(sessionId);
    return stored && requestedParts(stored, { extent: request.extent });
  }

  /**
   * Reads what was added to a session since the header that a reader knows. Returns `undefined` when all of it must be read,
   * also when another writer replaces the log during the read.
   */
  private async readAdded(header: Header, known: KnownSession | undefined): Promise<ReadContent | undefined> {
    const before = known && this.headers.get(known.record);
    const range = before && addedRange(before, header);
    if (before === undefined || range === undefined) return undefined;
    const { record } = header;
    const items = await this.itemsIn(partitionOf(record.info.sessionId), range);
    const unresolved = await addedPlan(before, header, items);
    const plan = unresolved && (await this.resolveBlobs(header, unresolved, new Map()));
    if (plan === undefined || plan instanceof StateFormatError) return undefined;
    return partsOfPlan(plan, missingParts(record, plan.head, known));
  }

  /** Loads a session without its inbox. */
  private async load(sessionId: string): Promise<StoredSession | undefined> {
    const texts = new Map<string, string>();
    return this.readUntilWhole(partitionOf(sessionId), async (header, items) => {
      const unresolved = await readLog(header, items);
      const plan = unresolved
        ? await this.resolveBlobs(header, wholePlan(unresolved), texts)
        : missingEntryError(header);
      if (plan instanceof StateFormatError) return plan;
      return { record: header.record, content: applySavePlan(undefined, plan) };
    });
  }

  /** Loads a session without its inbox and without its blobs. */
  async loadUnresolved(pk: string): Promise<UnresolvedSession | undefined> {
    return this.readUntilWhole(pk, async (header, items) => {
      const content = await readLog(header, items);
      const notes = notesIn(items.values(), header.record.incarnation);
      return content ? { header, content, notes } : missingEntryError(header);
    });
  }

  /** Replaces the references in a plan by the texts of their blobs. Returns the error for a missing blob. */
  private async resolveBlobs(
    { record, hasBlobs }: Header,
    plan: SavePlan,
    texts: Map<string, string>,
  ): Promise<SavePlan | StateFormatError> {
    if (!hasBlobs) return plan;
    const { info, incarnation } = record;
    if (this.blobs === undefined) throw blobsRequiredError(info.sessionId);
    const references = referencesInPlan(plan);
    await this.blobs.read({ sessionId: info.sessionId, incarnation }, references, texts);
    for (const reference of references) if (!texts.has(reference)) return missingBlobError(record, reference);
    return resolveReferences(plan, texts);
  }

  /**
   * Reads header, log and notes until no part is missing. A part can be missing because another writer replaced the log
   * during the read. If `use` returns an error twice for the same record, or at the last attempt, this throws the
   * error.
   */
  private async readUntilWhole<T>(
    pk: string,
    use: (header: Header, items: ReadonlyMap<string, Item>) => Promise<T | StateFormatError>,
  ): Promise<T | undefined> {
    let last: string | undefined;
    for (let attempts = 1; ; attempts++) {
      const items = await this.itemsIn(pk);
      const item = items.get(HEADER);
      if (item === undefined) return undefined;
      const header = this.remember(await headerFromItem(item));
      const result = await use(header, items);
      if (!(result instanceof StateFormatError)) return result;
      const name = recordName(header.record);
      if (name === last || attempts === MAX_ATTEMPTS) throw result;
      last = name;
    }
  }

  /** Reads items of a session, by sort key: the header, the notes and the log, or those of another range. */
  private async itemsIn(
    pk: string,
    range: KeyRange = { from: HEADER, to: LOG_END },
  ): Promise<ReadonlyMap<string, Item>> {
    const items = new Map<string, Item>();
    for await (const page of this.table.itemPages(pk, range)) {
      for (const item of page) items.set(item['sk']?.S ?? '', item);
      if (range.from === HEADER && !items.has(HEADER)) break;
    }
    return items;
  }
}
