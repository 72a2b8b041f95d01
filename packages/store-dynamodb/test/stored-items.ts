import { QueryCommand } from '@aws-sdk/client-dynamodb';
import type { AttributeValue, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { ProxiedRequest } from './fault-proxy.ts';

export type StoredItem = Record<string, AttributeValue>;

/** What the table holds of a session with a short id. */
export async function itemsOf(
  client: DynamoDBClient,
  table: string,
  sessionId: string,
): Promise<StoredItem[]> {
  const items: StoredItem[] = [];
  let ExclusiveStartKey: StoredItem | undefined;
  do {
    const page = await client.send(
      new QueryCommand({
        TableName: table,
        ConsistentRead: true,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': { S: `S#${sessionId}` } },
        ExclusiveStartKey,
      }),
    );
    items.push(...(page.Items ?? []));
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey);
  return items;
}

/** The sort keys of a session's items of a kind: `A` the header, `B` notes of blobs, `E` entries, `I` inbox items, `G` notes. */
export async function keysOf(
  client: DynamoDBClient,
  table: string,
  sessionId: string,
  kind: 'A' | 'B' | 'E' | 'G' | 'I',
): Promise<string[]> {
  const keys = (await itemsOf(client, table, sessionId)).map(({ sk }) => sk?.S ?? '');
  return keys.filter((key) => key.startsWith(kind));
}

/** Does the request write a header? */
export function isFlip({ operation, body }: ProxiedRequest): boolean {
  return operation === 'PutItem' && sortKeyOf(body['Item']) === 'A';
}

function sortKeyOf(item: unknown): string | undefined {
  return (item as StoredItem | undefined)?.['sk']?.S;
}
