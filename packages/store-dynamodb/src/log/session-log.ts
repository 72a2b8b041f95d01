import { StateFormatError } from '@holdfast/core';
import { applySavePlan, type SessionContent, type SavePlan } from '@holdfast/core/store';
import type { Header, LogSize } from '../header/header.ts';
import type { Item } from '../table/item.ts';
import type { IncarnationKey } from '../table/keys.ts';
import { joinParts, newUniqueText, toParts } from '../table/parts.ts';
import { jsonFromPayload } from '../table/payload.ts';
import { entryName, entryPosition, logPrefix } from './entry-keys.ts';
import { planFromJson, planToJson } from './plan-entries.ts';

/** The end of a log, where the next entry is added. */
export interface LogEnd {
  readonly segment: number;
  /** The position of the next entry in the segment. */
  readonly position: number;
  /** The name of the last entry; `undefined` in an empty segment. */
  readonly previous: string | undefined;
  readonly log: LogSize;
}

/** New entries, and the fields of the header that name them. */
export interface LogEntries extends Pick<Header, 'lastEntry' | 'log'> {
  readonly items: readonly Item[];
}

const EMPTY: LogSize = { entries: 0, bytes: 0, base: 0 };

export function endOfLog({ lastEntry, log }: Header): LogEnd {
  const [segment, position] = entryPosition(lastEntry);
  return { segment, position: position + 1, previous: lastEntry, log };
}

/** The start of a new segment: the one after the header's segment, or segment 0 for a new session. */
export function newSegment(header: Header | undefined): LogEnd {
  const segment = header ? entryPosition(header.lastEntry)[0] + 1 : 0;
  return { segment, position: 0, previous: undefined, log: EMPTY };
}

/** Adds the bytes of new blobs to the size of a log. */
export function withBytes(end: LogEnd, bytes: number): LogEnd {
  return { ...end, log: { ...end.log, bytes: end.log.bytes + bytes } };
}

/**
 * The maximum length of a head in the header, in UTF-16 code units. Each claim, renewal and release writes the header,
 * and DynamoDB bills reads in steps of 4 KB.
 */
const MAX_HEAD_LENGTH = 4_096;

/** The head of a plan, if it fits into the header; `undefined` if the entry of the plan must hold it. */
export function headForHeader({ head }: SavePlan): string | undefined {
  return head.length <= MAX_HEAD_LENGTH && !head.includes('\n') ? head : undefined;
}

/**
 * Converts each plan to an entry.
 * @param attributes further attributes of the first item
 */
export async function toEntries(
  plans: readonly SavePlan[],
  { segment, position, previous, log }: LogEnd,
  { pk, incarnation, attributes }: IncarnationKey & { readonly attributes?: Item | undefined },
): Promise<LogEntries> {
  const items: Item[] = [];
  let [last, { entries, bytes }] = [previous, log];
  for (const [index, plan] of plans.entries()) {
    const parts = await toParts({
      pk,
      prefix: logPrefix(incarnation),
      nameOf: (count) => entryName(segment, position + index, newUniqueText(), count),
      text: planToJson(plan),
      attributes: { ...(last !== undefined && { prev: { S: last } }), ...(index === 0 && attributes) },
    });
    items.push(...parts.items);
    last = parts.name;
    entries += 1;
    bytes += parts.bytes;
  }
  const base = previous === undefined ? bytes : log.base;
  return { items, lastEntry: last ?? '', log: { entries, bytes, base } };
}

/**
 * Reads the content of a session from the header and the entries that the header names. Ignores the entries of writers
 * whose header was refused or not written. Returns `undefined` when an entry is missing.
 */
export async function readLog(
  header: Header,
  items: ReadonlyMap<string, Item>,
): Promise<SessionContent | undefined> {
  let content: SessionContent | undefined;
  for (const plan of (await plansUpTo(header, items)) ?? []) content = applySavePlan(content, plan);
  return content && { ...content, head: header.head ?? content.head };
}

/**
 * Reads the plans of the entries that a header names, oldest first: all of them, or those after the entry `first`. Returns
 * `undefined` when an entry is missing.
 */
export async function plansUpTo(
  { record, lastEntry }: Header,
  items: ReadonlyMap<string, Item>,
  first?: string,
): Promise<readonly SavePlan[] | undefined> {
  const entries: { readonly name: string; readonly payload: Uint8Array }[] = [];
  for (let name: string | undefined = lastEntry; name !== first;) {
    if (name === undefined) return undefined; // the log does not have the entry `first`
    const found = joinParts(logPrefix(record.incarnation), name, items);
    const isLoop = entries.length > items.size; // only in a damaged log
    if (found === undefined || isLoop) return undefined;
    entries.push({ name, payload: found.payload });
    name = found.first['prev']?.S;
  }
  const plans: SavePlan[] = [];
  for (const { name, payload } of entries.toReversed()) {
    const what = `the entry ${name} of session ${JSON.stringify(record.info.sessionId)}`;
    plans.push(planFromJson(await jsonFromPayload(payload, what), what));
  }
  return plans;
}

/** The error for a session whose log has a missing entry. */
export function missingEntryError({ record, lastEntry }: Header): StateFormatError {
  const what = `the log of session ${JSON.stringify(record.info.sessionId)}`;
  return new StateFormatError(what, `all entries up to ${lastEntry}`, 'a missing entry');
}
