import { hasErrorCode, SessionTooLargeError, StateFormatError } from '@holdfast/core';
import { dueAt, readSessionRecord, recordName } from '@holdfast/core/store';
import type { Instant } from '@holdfast/core';
import type { SessionRecord } from '@holdfast/core/store';
import { itemBytes, MAX_ITEM_BYTES } from './item-size.ts';
import type { Item } from './item-size.ts';
import { HEADER, instantKey, orderKey, partitionOf, sessionIn } from './keys.ts';
import { fromPayload, jsonIn, toPayload } from './payload.ts';
import type { Shards } from './shards.ts';
import { SHARD } from './table-definition.ts';

/** What a session's log amounts to. Bytes are those that are stored. */
export interface LogSize {
  /** Entries since the segment began. */
  readonly entries: number;
  readonly bytes: number;
  /** Of these, the bytes that the segment began with. */
  readonly base: number;
}

/** The item that says what is true of a session: what it does not name is not there. */
export interface Header {
  readonly record: SessionRecord;
  /** The last entry of the log. */
  readonly entry: string;
  readonly log: LogSize;
  /** The head of the content, if it is small enough; otherwise the last entry of the log has it. */
  readonly head: string | undefined;
  /** The inbox item that came in last, by the unique part of its name. */
  readonly lastItem: string | undefined;
  /** The tokens of the last records before this one, latest last: a writer whose reply was lost finds its own there. */
  readonly flips: readonly string[];
  /** When to look whether the session has expired; not after it has. */
  readonly sweepAt: Instant | undefined;
  /** Are or were some of its values blobs? */
  readonly hasBlobs: boolean;
  /** Another one each time that `prune` has taken away blobs which a writer may have been about to name. */
  readonly fence: string | undefined;
}

/** How many others may write while a writer waits for its reply. */
const FLIPS_KEPT = 3;

/** How headers are put into the indexes. */
export interface IndexOptions {
  readonly shards: Shards;
  readonly isActivityListed: boolean;
}

/** The incarnation that a header item speaks of, if there is one. */
export function liveIncarnation(item: Item | undefined): string | undefined {
  return /^\d+\.[^.]*\.(.*)$/su.exec(item?.['rev']?.S ?? '')?.[1];
}

/** The tokens that the header after this one keeps. */
export function flipsAfter({ flips, record }: Header): readonly string[] {
  return [...flips, record.token].slice(-FLIPS_KEPT);
}

/** Whether a header item is that of a record, or of one that was written soon after it. @throws StateFormatError */
export async function hasFlipped(item: Item | undefined, record: SessionRecord): Promise<boolean> {
  if (item === undefined || item['rev']?.S === recordName(record)) return item !== undefined;
  return (await fromItem(item)).flips.includes(record.token);
}

/** @param room bytes that must be left over @throws SessionTooLargeError */
export async function toItem(header: Header, options: IndexOptions, room = 0): Promise<Item> {
  const { record, sweepAt, ...rest } = header;
  const { sessionId, createdAt } = record.info;
  const due = dueAt(record);
  const pk = partitionOf(sessionId);
  const texts = {
    pk,
    sk: HEADER,
    rev: recordName(record),
    [SHARD]: await options.shards.of(pk),
    created: orderKey(-createdAt, sessionId),
    active: options.isActivityListed ? orderKey(-record.lastActiveAt, sessionId) : undefined,
    due: due === undefined ? undefined : orderKey(due, sessionId),
    sweep: sweepAt === undefined ? undefined : instantKey(sweepAt),
  };
  const item: Item = { payload: { B: await toPayload(headerLines(record, rest), pk + texts.rev) } };
  for (const [name, text] of Object.entries(texts)) if (text !== undefined) item[name] = { S: text };
  const bytes = itemBytes(item) + room;
  if (bytes > MAX_ITEM_BYTES) throw new SessionTooLargeError(sessionId, bytes, MAX_ITEM_BYTES);
  return item;
}

/** @throws StateFormatError */
export async function fromItem(item: Item): Promise<Header> {
  const what = `the header of ${sessionIn(item['pk']?.S ?? '')}`;
  const { pk, rev, sweep, payload } = item;
  const text = await fromPayload(payload?.B, what, `${pk?.S}${rev?.S}`);
  const [factsLine = '', recordLine = '', head] = text.split('\n');
  const record = recordOf(jsonIn(recordLine, what), rev?.S, what);
  const sweepAt = sweep?.S === undefined ? undefined : instantOf(sweep.S, what);
  return { ...factsOf(jsonIn(factsLine, what), what), record, head, sweepAt };
}

/** The payload, in lines, as JSON has no line breaks: facts about the log and the last writes, the record, the head. */
function headerLines(
  record: SessionRecord,
  { entry, log, head, lastItem, flips, hasBlobs, fence }: Omit<Header, 'record' | 'sweepAt'>,
): string {
  const { entries, bytes, base } = log;
  const facts = {
    entry,
    log: [entries, bytes, base],
    flips,
    item: lastItem,
    blobs: hasBlobs || undefined,
    fence,
  };
  const lines = [JSON.stringify(facts), JSON.stringify(record)];
  return (head === undefined ? lines : [...lines, head]).join('\n');
}

type Facts = Pick<Header, 'entry' | 'log' | 'lastItem' | 'flips' | 'hasBlobs' | 'fence'>;

function factsOf(json: unknown, what: string): Facts {
  const { entry, log, flips, item, blobs, fence } = Object(json) as Readonly<Record<string, unknown>>;
  const [entries, bytes, base] = Array.isArray(log) ? (log as readonly unknown[]) : [];
  const sizes = { entries: Number(entries), bytes: Number(bytes), base: Number(base) };
  if (typeof entry !== 'string' || !Object.values(sizes).every(Number.isFinite) || !isTexts(flips)) {
    throw new StateFormatError(what, 'the last entry and the size of its log', JSON.stringify(json));
  }
  return {
    entry,
    log: sizes,
    flips,
    lastItem: typeof item === 'string' ? item : undefined,
    hasBlobs: blobs === true,
    fence: typeof fence === 'string' ? fence : undefined,
  };
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function recordOf(json: unknown, rev: string | undefined, what: string): SessionRecord {
  let read: SessionRecord;
  try {
    read = readSessionRecord(json);
  } catch (cause) {
    if (!(cause instanceof StateFormatError)) throw cause;
    const code = hasErrorCode(cause, 'STATE_VERSION') ? 'STATE_VERSION' : 'STATE_FORMAT';
    throw new StateFormatError(what, 'what this release has written', cause.message, { code, cause });
  }
  // Writes are conditional on it: none would ever be done.
  if (rev !== recordName(read)) throw new StateFormatError(what, `revision ${recordName(read)}`, String(rev));
  return read;
}

function instantOf(key: string, what: string): Instant {
  if (!/^\d{17}$/.test(key)) throw new StateFormatError(what, 'when to sweep it, in 17 digits', key);
  return Number(BigInt(key) - 2n ** 53n);
}

/**
 * When to look next whether the session has expired. An expiry that moves on with each write does not move the index
 * with it: whoever comes to look too early puts it off.
 */
export function nextSweep(known: Instant | undefined, { expiresAt }: SessionRecord): Instant | undefined {
  if (expiresAt === undefined) return undefined;
  return known === undefined ? expiresAt : Math.min(known, expiresAt);
}
