import { StateFormatError } from '@holdfast/core';
import { carriedOut } from '@holdfast/core/store';
import type { SavedSession, SavePlan } from '@holdfast/core/store';
import type { Header, LogSize } from './header.ts';
import type { Item } from './item-size.ts';
import { entryName, logPrefix } from './keys.ts';
import { joinedParts, newPartId, toParts } from './parts.ts';
import { jsonOf } from './payload.ts';
import { planJson, planOf } from './plan-entries.ts';

/** Where entries are to be added. */
export interface LogEnd {
  readonly segment: number;
  /** The place of the first of them in the segment. */
  readonly position: number;
  /** The entry that they follow. */
  readonly prev: string | undefined;
  readonly log: LogSize;
}

/** Entries to be written, and what the header will say of the log then. */
export interface LogEntries {
  readonly items: readonly Item[];
  readonly entry: string;
  readonly log: LogSize;
}

const NOTHING: LogSize = { entries: 0, bytes: 0, base: 0 };

/** Where the log of a header goes on. */
export function endOf({ entry, log }: Header): LogEnd {
  const [segment, position] = placeOf(entry);
  return { segment, position: position + 1, prev: entry, log };
}

/** Where a log begins anew, after that of the header if there is one. */
export function newSegment(header: Header | undefined): LogEnd {
  const segment = header ? placeOf(header.entry)[0] + 1 : 0;
  return { segment, position: 0, prev: undefined, log: NOTHING };
}

function placeOf(entry: string): [segment: number, position: number] {
  const [segment = '', position = ''] = entry.split('#');
  return [Number(segment), Number(position)];
}

/**
 * The longest head that a header holds, in UTF-16 code units. Each claim, renewal and release writes the header, and a
 * reader pays for 4 KB of it at least.
 */
const MAX_HEAD_LENGTH = 4_096;

/** A head that goes into the header, which is written anyway; `undefined` for one that the entry of its plan takes. */
export function headForHeader({ head }: SavePlan): string | undefined {
  return head.length <= MAX_HEAD_LENGTH && !head.includes('\n') ? head : undefined;
}

/** Entries that carry out plans one after the other. `attributes` are for the first item of all. */
export async function toEntries(
  plans: readonly SavePlan[],
  { segment, position, prev, log }: LogEnd,
  { pk, incarnation, attributes }: { pk: string; incarnation: string; attributes?: Item | undefined },
): Promise<LogEntries> {
  const items: Item[] = [];
  let [entry, { entries, bytes }] = [prev, log];
  for (const [index, plan] of plans.entries()) {
    const parts = await toParts({
      pk,
      prefix: logPrefix(incarnation),
      nameOf: (count) => entryName(segment, position + index, newPartId(), count),
      text: planJson(plan),
      attributes: { ...(entry !== undefined && { prev: { S: entry } }), ...(index === 0 && attributes) },
    });
    items.push(...parts.items);
    entry = parts.name;
    entries += 1;
    bytes += parts.bytes;
  }
  return { items, entry: entry ?? '', log: { entries, bytes, base: prev === undefined ? bytes : log.base } };
}

/**
 * What a header says of a session, out of the items that were read with it. What it does not name, because its writer
 * was slower or has died, is passed over. `undefined` when something that it names is missing.
 */
export async function storedBy(
  header: Header,
  items: ReadonlyMap<string, Item>,
): Promise<SavedSession | undefined> {
  const { record, entry } = header;
  const { incarnation } = record;
  const entries: { readonly name: string; readonly payload: Uint8Array }[] = [];
  for (let name: string | undefined = entry; name !== undefined;) {
    const found = joinedParts(logPrefix(incarnation), name, items);
    if (found === undefined || entries.length > items.size) return undefined; // or one that comes back to itself
    entries.push({ name, payload: found.payload });
    name = found.first['prev']?.S;
  }
  let saved: SavedSession | undefined;
  for (const { name, payload } of entries.toReversed()) {
    const what = `the entry ${name} of session ${JSON.stringify(record.info.sessionId)}`;
    saved = carriedOut(saved, planOf(await jsonOf(payload, what), what));
  }
  return saved && { ...saved, head: header.head ?? saved.head };
}

/** The error for a header that names an entry which is missing. */
export function missingPart({ record, entry }: Header): StateFormatError {
  const { sessionId } = record.info;
  const what = `the log of session ${JSON.stringify(sessionId)}`;
  return new StateFormatError(what, `all entries up to ${entry}`, 'some of them');
}
