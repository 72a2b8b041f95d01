import { BatchGetItemCommand, DeleteItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { ChannelUnavailableError } from '@holdfast/core/channel';
import { keyItem, type Item } from '../table/item.ts';
import { HEADER, partitionOf, type ItemKey } from '../table/keys.ts';
import { newUniqueText } from '../table/parts.ts';
import type { DynamoDbSender } from '../table/requests.ts';

/** The time after which a request is aborted. */
const REQUEST_TIMEOUT_MS = 3_000;
const READS_A_BATCH = 100;

/** A notification as it is stored. */
export interface StoredNotification {
  /** Random, and new for each notification. */
  readonly id: string;
  readonly text: string;
}

/** The items that a poll has read. */
export interface ReadItems {
  /** The items, by partition. */
  readonly items: ReadonlyMap<string, Item>;
  /** The partitions that DynamoDB did not read, because of its load. */
  readonly unread: ReadonlySet<string>;
}

export function headerKey(sessionId: string): ItemKey {
  return { pk: partitionOf(sessionId), sk: HEADER };
}

/** The key of the last notification of a session. It is not in the session's partition, which a load reads as a whole. */
export function notificationKey(sessionId: string): ItemKey {
  return { pk: `N#${partitionOf(sessionId)}`, sk: 'N' };
}

/** Sends the requests of a channel. Each fails fast with a ChannelUnavailableError. */
export class ChannelTable {
  private readonly client: DynamoDbSender;
  private readonly table: string;

  constructor(client: DynamoDbSender, table: string) {
    this.client = client;
    this.table = table;
  }

  /** Replaces the notification of a session. */
  async putNotification(sessionId: string, text: string): Promise<void> {
    const Item = { ...keyItem(notificationKey(sessionId)), note: { S: newUniqueText() }, text: { S: text } };
    const command = new PutItemCommand({ TableName: this.table, Item });
    await this.send((abortSignal) => this.client.send(command, { abortSignal }));
  }

  /** Deletes the notification of a session, unless there is a newer one. */
  async deleteNotification(sessionId: string, id: string): Promise<void> {
    const command = new DeleteItemCommand({
      TableName: this.table,
      Key: keyItem(notificationKey(sessionId)),
      ConditionExpression: 'note = :id',
      ExpressionAttributeValues: { ':id': { S: id } },
    });
    await this.send((abortSignal) => this.client.send(command, { abortSignal }));
  }

  /** Reads items, of one for each partition. Eventually consistent reads cost half: a later poll sees the rest. */
  async read(keys: readonly ItemKey[]): Promise<ReadItems> {
    const items = new Map<string, Item>();
    const unread = new Set<string>();
    for (let start = 0; start < keys.length; start += READS_A_BATCH) {
      const Keys = keys.slice(start, start + READS_A_BATCH).map(keyItem);
      const command = new BatchGetItemCommand({ RequestItems: { [this.table]: { Keys } } });
      const reply = await this.send((abortSignal) => this.client.send(command, { abortSignal }));
      for (const item of reply.Responses?.[this.table] ?? []) items.set(item['pk']?.S ?? '', item);
      for (const key of reply.UnprocessedKeys?.[this.table]?.Keys ?? []) unread.add(key['pk']?.S ?? '');
    }
    return { items, unread };
  }

  private async send<T>(request: (abortSignal: AbortSignal) => Promise<T>): Promise<T> {
    try {
      return await request(AbortSignal.timeout(REQUEST_TIMEOUT_MS));
    } catch (cause) {
      const why = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
      const where = `the table ${JSON.stringify(this.table)}`;
      throw new ChannelUnavailableError(`DynamoDB failed a request of the channel for ${where} (${why}).`, {
        cause,
      });
    }
  }
}

export function notificationOf(item: Item | undefined): StoredNotification | undefined {
  const { note, text } = item ?? {};
  return note?.S === undefined ? undefined : { id: note.S, text: text?.S ?? '' };
}
