import {
  GetItemCommand,
  QueryCommand,
  type AttributeValue,
  type DynamoDBClient,
  type WriteRequest,
} from '@aws-sdk/client-dynamodb';
import { fromPayload, toPayload } from '../../src/table/payload.ts';
import type { ProxiedRequest } from './request-proxy.ts';

export type StoredItem = Record<string, AttributeValue>;

/** The item with a key. */
export async function itemAt(
  client: DynamoDBClient,
  TableName: string,
  Key: StoredItem,
): Promise<StoredItem | undefined> {
  return (await client.send(new GetItemCommand({ TableName, Key, ConsistentRead: true }))).Item;
}

/** Changes the text of the record in a header. */
export async function withRecordText(
  header: StoredItem,
  change: (record: string) => string,
): Promise<StoredItem> {
  const { pk, rev, owner, payload } = header;
  const context = `${pk?.S}${rev?.S}${owner?.S ?? ''}`;
  const lines = (await fromPayload(payload?.B, 'the header', context)).split('\n');
  lines[1] = change(lines[1] ?? '');
  return { ...header, payload: { B: await toPayload(lines.join('\n'), context) } };
}

/** The items of a session with a short id. */
export function itemsOf(client: DynamoDBClient, table: string, sessionId: string): Promise<StoredItem[]> {
  return itemsIn(client, table, `S#${sessionId}`);
}

/** The items of a partition. */
export async function itemsIn(
  client: DynamoDBClient,
  table: string,
  partition: string,
): Promise<StoredItem[]> {
  const items: StoredItem[] = [];
  let ExclusiveStartKey: StoredItem | undefined;
  do {
    const page = await client.send(
      new QueryCommand({
        TableName: table,
        ConsistentRead: true,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': { S: partition } },
        ExclusiveStartKey,
      }),
    );
    items.push(...(page.Items ?? []));
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey);
  return items;
}

/**
 * The sort keys of a session's items of a kind: `A` the header, `B` notes of blobs, `E` entries, `G` notes, `I` rows and
 * `J` markers of inbox items, `R` rows of archive entries.
 */
export async function keysOf(
  client: DynamoDBClient,
  table: string,
  sessionId: string,
  kind: 'A' | 'B' | 'E' | 'G' | 'I' | 'J' | 'R',
): Promise<string[]> {
  const keys = (await itemsOf(client, table, sessionId)).map(({ sk }) => sk?.S ?? '');
  return keys.filter((key) => key.startsWith(kind));
}

/** Returns whether a request writes a header. */
export function isFlip(request: ProxiedRequest): boolean {
  return request.operation === 'PutItem' && putKeysIn(request)[0] === 'A';
}

/** Returns whether a request reads the header and the log of a session. */
export function isLogRead({ operation, body }: ProxiedRequest): boolean {
  const { ':from': from } = Object(body['ExpressionAttributeValues']) as StoredItem;
  return operation === 'Query' && from?.S === 'A';
}

/** The sort keys of the items that a request puts. */
export function putKeysIn({ operation, body }: ProxiedRequest): string[] {
  if (operation === 'PutItem') return [sortKeyOf(body['Item'])];
  if (operation !== 'BatchWriteItem') return [];
  const requests = Object.values(body['RequestItems'] as Record<string, readonly WriteRequest[]>).flat();
  return requests.flatMap(({ PutRequest }) => (PutRequest ? [sortKeyOf(PutRequest.Item)] : []));
}

function sortKeyOf(item: unknown): string {
  return (item as StoredItem | undefined)?.['sk']?.S ?? '';
}
