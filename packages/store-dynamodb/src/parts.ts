import { randomBytes } from 'node:crypto';
import type { Item } from './item-size.ts';
import type { ItemKey } from './keys.ts';
import { partKeys } from './keys.ts';
import { toPayload } from './payload.ts';

/** What an item takes besides its payload fits in the 50 KB that are left. */
const PART_BYTES = 350 * 1024;

/** Something to be written, in as many items as it takes, under a name that a header or another entry gives. */
export interface Parts {
  readonly name: string;
  readonly items: readonly Item[];
  readonly bytes: number;
}

export interface PartsInit {
  readonly pk: string;
  readonly prefix: string;
  /** The name, which ends in the count of parts. */
  readonly nameOf: (count: number) => string;
  readonly text: string;
  /** What else the first item says. */
  readonly attributes?: Item;
}

/** A text in parts. */
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

/** The first part and the whole payload of what is named; `undefined` when a part is missing. */
export function joinedParts(
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

/** The keys of items. */
export function keysOf(items: readonly Item[]): ItemKey[] {
  return items.map(({ pk, sk }) => ({ pk: pk?.S ?? '', sk: sk?.S ?? '' }));
}

/** A text that nobody else makes, short because headers repeat it. Two stores may have one clock: it is not asked. */
export function newPartId(): string {
  return randomBytes(8).toString('base64url');
}
