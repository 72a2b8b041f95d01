import { SessionTooLargeError, StateFormatError, type Instant } from '@holdfast/core';
import {
  recordDueAt,
  readSessionRecord,
  readStored,
  recordName,
  type SessionRecord,
} from '@holdfast/core/store';
import type { Shards } from '../shards/shards.ts';
import { itemBytes, MAX_ITEM_BYTES, type Item } from '../table/item.ts';
import {
  hashedIdOf,
  HEADER,
  instantKey,
  instantOf,
  orderKey,
  ownerKey,
  partitionOf,
  sessionIdOf,
} from '../table/keys.ts';
import { fromPayload, parseJson, toPayload } from '../table/payload.ts';
import { OWNER, SHARD } from '../table/table-definition.ts';
import type { Header } from './header.ts';

/** Options for the index keys of headers. */
export interface IndexOptions {
  readonly shards: Shards;
  readonly isActivityListed: boolean;
}

/**
 * Converts a header to its item.
 * @param room the bytes of the item that must stay free
 * @throws SessionTooLargeError `SESSION_TOO_LARGE` when the item has no such room
 */
export async function headerToItem(header: Header, options: IndexOptions, room = 0): Promise<Item> {
  const { record, sweepAt, ...rest } = header;
  const { sessionId, createdAt, owner } = record.info;
  const due = recordDueAt(record);
  const pk = partitionOf(sessionId);
  const texts = {
    pk,
    sk: HEADER,
    id: hashedIdOf(sessionId),
    rev: recordName(record),
    [SHARD]: await options.shards.shardOf(pk),
    [OWNER]: owner === undefined ? undefined : ownerKey(owner),
    created: orderKey(-createdAt, sessionId),
    active: options.isActivityListed ? orderKey(-record.lastActiveAt, sessionId) : undefined,
    due: due === undefined ? undefined : orderKey(due, sessionId),
    sweep: sweepAt === undefined ? undefined : instantKey(sweepAt),
  };
  const item: Item = { payload: { B: await toPayload(payloadText(record, rest), contextOf(texts)) } };
  for (const [name, text] of Object.entries(texts)) if (text !== undefined) item[name] = { S: text };
  const bytes = itemBytes(item) + room;
  if (bytes > MAX_ITEM_BYTES) throw new SessionTooLargeError(sessionId, bytes, MAX_ITEM_BYTES);
  return item;
}

/**
 * Reads a header from its item.
 * @throws StateFormatError `STATE_FORMAT` when the item is damaged, `STATE_VERSION` when a newer release has written it
 */
export async function headerFromItem(item: Item): Promise<Header> {
  const sessionId = sessionIdOf(item);
  const what = `the header of session ${JSON.stringify(sessionId)}`;
  const { pk, rev, owner, sweep, payload } = item;
  const context = contextOf({ pk: pk?.S, rev: rev?.S, owner: owner?.S });
  const text = await fromPayload(payload?.B, what, context);
  const [factsLine = '', recordLine = '', head] = text.split('\n');
  const record = readRecord(parseJson(recordLine, what), rev?.S, what);
  if (partitionOf(record.info.sessionId) !== pk?.S)
    throw new StateFormatError(what, 'its record', `that of ${JSON.stringify(record.info.sessionId)}`);
  const sweepAt = sweep?.S === undefined ? undefined : readInstant(sweep.S, what);
  return { ...readFacts(parseJson(factsLine, what), what), record, head, sweepAt };
}

/** The attributes of a header that its payload repeats, and that deflate it further. */
function contextOf({ pk, rev, owner = '' }: Readonly<Record<string, string | undefined>>): string {
  return `${pk}${rev}${owner}`;
}

/** The incarnation in the revision of a header item; `undefined` without an item. */
export function incarnationOfHeader(item: Item | undefined): string | undefined {
  return /^\d+\.[^.]*\.(.*)$/su.exec(item?.['rev']?.S ?? '')?.[1];
}

/**
 * Returns whether the stored header is the one of `record`, or follows it by at most three writes.
 * @throws StateFormatError `STATE_FORMAT` or `STATE_VERSION` when the header is unreadable
 */
export async function includesFlip(item: Item | undefined, record: SessionRecord): Promise<boolean> {
  if (item === undefined) return false;
  if (item['rev']?.S === recordName(record)) return true;
  return (await headerFromItem(item)).flips.includes(record.token);
}

type HeaderFacts = Pick<
  Header,
  'lastEntry' | 'log' | 'lastItem' | 'archives' | 'flips' | 'hasBlobs' | 'fence'
>;

/**
 * The payload of a header in lines: the facts, the record, and the head if the header holds it. JSON has no line
 * breaks.
 */
function payloadText(
  record: SessionRecord,
  { lastEntry, log, head, lastItem, archives, flips, hasBlobs, fence }: Omit<Header, 'record' | 'sweepAt'>,
): string {
  const { entries, bytes, base } = log;
  const facts = {
    entry: lastEntry,
    log: [entries, bytes, base],
    flips,
    item: lastItem,
    blobs: hasBlobs || undefined,
    fence,
    archives: Object.keys(archives).length > 0 ? archives : undefined,
  };
  const lines = [JSON.stringify(facts), JSON.stringify(record)];
  return (head === undefined ? lines : [...lines, head]).join('\n');
}

function readFacts(json: unknown, what: string): HeaderFacts {
  const facts = Object(json) as Readonly<Record<string, unknown>>;
  const { entry, log, flips, item, blobs, fence, archives = {} } = facts;
  const [entries, bytes, base] = Array.isArray(log) ? (log as readonly unknown[]) : [];
  const sizes = { entries: Number(entries), bytes: Number(bytes), base: Number(base) };
  const isLog = typeof entry === 'string' && Object.values(sizes).every(Number.isFinite);
  if (!isLog || !isTextList(flips) || !isTextRecord(archives)) {
    throw new StateFormatError(what, 'the last entry and the size of the log', JSON.stringify(json));
  }
  return {
    lastEntry: entry,
    log: sizes,
    flips,
    lastItem: typeof item === 'string' ? item : undefined,
    archives,
    hasBlobs: blobs === true,
    fence: typeof fence === 'string' ? fence : undefined,
  };
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function isTextRecord(value: unknown): value is Readonly<Record<string, string>> {
  return typeof value === 'object' && value !== null && isTextList(Object.values(value));
}

function readRecord(json: unknown, rev: string | undefined, what: string): SessionRecord {
  const record = readStored(what, 'a record that this release can read', () => readSessionRecord(json));
  // Every write compares the stored revision with the name of the record. If they differed, every write would be
  // refused.
  const name = recordName(record);
  if (rev !== name) throw new StateFormatError(what, `revision ${name}`, String(rev));
  return record;
}

function readInstant(key: string, what: string): Instant {
  if (!/^\d{17}$/.test(key))
    throw new StateFormatError(what, 'the instant of its next sweep in 17 digits', key);
  return instantOf(key);
}
