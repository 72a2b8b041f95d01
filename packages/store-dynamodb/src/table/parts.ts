import { randomBytes } from 'node:crypto';
import type { Item } from './item.ts';
import { padNumber } from './keys.ts';
import { toPayload } from './payload.ts';

/** A part leaves 50 KB of its item for the other attributes. */
const PART_BYTES = 350 * 1024;

/** A text as one or several items, under a name that a header or another entry refers to. */
export interface Parts {
  readonly name: string;
  readonly items: readonly Item[];
  readonly bytes: number;
}

export interface PartsInit {
  readonly pk: string;
  readonly prefix: string;
  /** Returns the name, which must end in the number of parts. */
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

/** The first part and the whole payload of a name; `undefined` when a part is missing. */
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

/** The number of a part has four digits in its sort key. */
const MAX_PARTS = 9_999;

/** The sort keys of the parts of a name; none for a name that this package did not create. */
export function partKeys(prefix: string, name: string): string[] {
  const count = Number(name.slice(name.lastIndexOf('#') + 1));
  if (!(Number.isInteger(count) && count <= MAX_PARTS)) return [];
  return Array.from({ length: count }, (_, index) => `${prefix}${name}#${padNumber(index, 4)}`);
}

/**
 * A short random text, which makes the name of an item unique. It does not use the clock's `newId`, because two stores
 * may share a clock.
 */
export function newUniqueText(): string {
  return randomBytes(8).toString('base64url');
}
