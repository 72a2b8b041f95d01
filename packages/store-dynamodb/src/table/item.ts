import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { ItemKey } from './keys.ts';

/** An item in the form of the DynamoDB client. */
export type Item = Record<string, AttributeValue>;

/** The largest item, in bytes. */
export const MAX_ITEM_BYTES = 409_600;

/**
 * The size of an item in bytes, by DynamoDB's rule. It supports the types of attributes that this package writes: S and
 * B.
 */
export function itemBytes(item: Item): number {
  let bytes = 0;
  for (const [name, value] of Object.entries(item)) {
    bytes += Buffer.byteLength(name) + (value.B ? value.B.length : Buffer.byteLength(value.S ?? ''));
  }
  return bytes;
}

export function keyOf({ pk, sk }: Item): ItemKey {
  return { pk: pk?.S ?? '', sk: sk?.S ?? '' };
}

/** The key of an item, as attributes. */
export function keyItem({ pk, sk }: ItemKey): Item {
  return { pk: { S: pk }, sk: { S: sk } };
}
