import { randomBytes } from 'node:crypto';
import type { Item } from './item.ts';
import { padNumber } from './keys.ts';
import { toPayload } from './payload.ts';

/** The maximum size of a part. It leaves 50 KB of the item for the other attributes. */
const PART_BYTES = 350 * 1024;

/** A text in one or several items. A header or another entry refers to it by its name. */
export interface Parts {
  readonly name: string;
  readonly items: readonly Item[];
  readonly bytes: number;
}

export interface PartsInit {
  readonly pk: string;
  readonly prefix: string;
  /** Returns the name, which must end with the number of parts. */
  readonly nameOf: (count: number) => string;
  readonly text: string;
  /** Further attributes of the first item. */
  readonly attributes?: Item;
}

export async function toParts({ pk, prefix, nameOf, text, attributes }: PartsInit): Promise<Parts> {
  const payload = await toPayload(text);
  const name = nameOf(Math.ceil(payload.length / PART_BYTES));
  const items = partKeys(prefix, name).map((sk, index) => ({
    pk: { S: pk },
    sk: { S: sk },
    payload: { B: payload.subarray(index * PART_BYTES, (index + 1) * PART_BYTES) },
    ...(index === 0 && attributes),
  }));
  return { name, items, bytes: payload.length };
}

/** Joins the parts of a name. Returns the first part and the whole payload; `undefined` when a part is missing. */
export function joinParts(
  prefix: string,
  name: string,
  items: ReadonlyMap<string, Item>,
): { readonly first: Item; readonly payload: Uint8Array } | undefined {
  const found: Item[] = [];
  for (const sk of partKeys(prefix, name)) {
    const item = items.get(sk);
    if (item?.['payload']?.B === undefined) return undefined;
    found.push(item);
  }
  const [first] = found;
  return (
    first && { first, payload: Buffer.concat(found.map((item) => item['payload']?.B ?? Buffer.alloc(0))) }
  );
}

/** The maximum number of parts: a sort key holds four digits for the number of a part. */
const MAX_PARTS = 9_999;

/** The sort keys of the parts of a name. It is empty for a name that this package did not create. */
export function partKeys(prefix: string, name: string): string[] {
  const count = Number(name.slice(name.lastIndexOf('#') + 1));
  if (!(Number.isInteger(count) && count <= MAX_PARTS)) return [];
  return Array.from({ length: count }, (_, index) => `${prefix}${name}#${padNumber(index, 4)}`);
}

/**
 * A short random text that makes the name of an item unique. It does not use the clock's `newId`, because two stores
 * can share a clock.
 */
export function newUniqueText(): string {
  return randomBytes(8).toString('base64url');
}
