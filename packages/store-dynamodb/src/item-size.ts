import type { AttributeValue } from '@aws-sdk/client-dynamodb';

/** An item as DynamoDB takes it. */
export type Item = Record<string, AttributeValue>;

/** The largest item, in bytes. */
export const MAX_ITEM_BYTES = 409_600;

/** The size of an item by DynamoDB's own rule, in bytes, for the kinds of value that are used here: S and B. */
export function itemBytes(item: Item): number {
  let bytes = 0;
  for (const [name, value] of Object.entries(item)) {
    bytes += Buffer.byteLength(name) + (value.B ? value.B.length : Buffer.byteLength(value.S ?? ''));
  }
  return bytes;
}
