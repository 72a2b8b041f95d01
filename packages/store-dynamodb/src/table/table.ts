import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
  type QueryCommandInput,
  type WriteRequest,
} from '@aws-sdk/client-dynamodb';
import type { Clock } from '@holdfast/core';
import { keyItem, keyOf, type Item } from './item.ts';
import { destroyOwnClient } from './client.ts';
import { HEADER, type ItemKey } from './keys.ts';
import {
  backOff,
  checkAttempts,
  isConditionFailure,
  retryThrottled,
  watchAttempts,
  type Ambiguity,
  type DynamoDbSender,
} from './requests.ts';
import { INDEXES, type IndexName } from './table-definition.ts';

/** A range of keys, including `to`. */
export interface KeyRange {
  readonly from: string;
  readonly to: string;
}

/** The result of a conditional write. */
export interface ConditionalWrite extends Readonly<Ambiguity> {
  readonly isDone: boolean;
}

const WRITES_A_BATCH = 25;
/**
 * A request has at most 16 MB. A part of an entry has a third of a megabyte, and base64 encodes three bytes in four.
 */
const PARTS_A_BATCH = 10;
const READS_A_BATCH = 100;
/** A key after every key of an index. */
export const LAST_KEY = '~';

/** Sends the store's requests. All reads of the table are consistent, and no request scans it. */
export class Table {
  private readonly client: DynamoDbSender;
  readonly TableName: string;
  private readonly clock: Clock;

  constructor(client: DynamoDbSender, name: string, clock: Clock) {
    this.client = client;
    this.TableName = name;
    this.clock = clock;
  }

  /** Destroys the client if this package created it. */
  close(): void {
    destroyOwnClient(this.client);
  }

  async get(key: ItemKey): Promise<Item | undefined> {
    const { TableName } = this;
    const command = new GetItemCommand({ TableName, Key: keyItem(key), ConsistentRead: true });
    return (await this.retry(() => this.client.send(command))).Item;
  }

  /** The headers of the sessions that exist, by partition. */
  async headers(partitions: readonly string[]): Promise<ReadonlyMap<string, Item>> {
    const items = await this.readEach(partitions.map((pk) => ({ pk, sk: HEADER })));
    return new Map(items.map((item) => [item['pk']?.S ?? '', item]));
  }

  async put(item: Item): Promise<void> {
    const { TableName } = this;
    const command = new PutItemCommand({ TableName, Item: item });
    await this.retry(() => this.client.send(command));
  }

  /**
   * Puts an item if the stored item has revision `rev`. If `rev` is `undefined`, it puts the item only if no item is
   * stored.
   */
  async compareAndPut(item: Item, rev: string | undefined): Promise<ConditionalWrite> {
    const { TableName } = this;
    const command = new PutItemCommand({ TableName, Item: item, ...condition(rev) });
    return this.conditional(watchAttempts(command), () => this.client.send(command));
  }

  /** Deletes an item if it has revision `rev`. */
  async compareAndDelete(key: ItemKey, rev: string): Promise<ConditionalWrite> {
    const { TableName } = this;
    const command = new DeleteItemCommand({ TableName, Key: keyItem(key), ...condition(rev) });
    return this.conditional(watchAttempts(command), () => this.client.send(command));
  }

  /** Replaces the value of an attribute if it is still `from`. Removes the attribute when `to` is `undefined`. */
  async changeAttribute(key: ItemKey, name: string, from: string, to: string | undefined): Promise<void> {
    const { TableName } = this;
    const command = new UpdateItemCommand({
      TableName,
      Key: keyItem(key),
      ConditionExpression: '#name = :from',
      UpdateExpression: to === undefined ? 'REMOVE #name' : 'SET #name = :to',
      ExpressionAttributeNames: { '#name': name },
      ExpressionAttributeValues: { ':from': { S: from }, ...(to !== undefined && { ':to': { S: to } }) },
    });
    await this.conditional(undefined, () => this.client.send(command));
  }

  /** Puts items, in no particular order. */
  async putEach(items: readonly Item[]): Promise<void> {
    const [first, ...others] = items;
    if (first && others.length === 0) return this.put(first);
    await this.writeAll(
      items.map((Item) => ({ PutRequest: { Item } })),
      PARTS_A_BATCH,
    );
  }

  async deleteEach(keys: readonly ItemKey[]): Promise<void> {
    await this.writeAll(
      keys.map((key) => ({ DeleteRequest: { Key: keyItem(key) } })),
      WRITES_A_BATCH,
    );
  }

  /** Deletes the items of a partition in a range of sort keys. */
  async deleteRange(pk: string, range: KeyRange): Promise<void> {
    const pages = this.itemPages(pk, range, { ProjectionExpression: 'pk, sk' });
    for await (const items of pages) await this.deleteEach(items.map(keyOf));
  }

  /** Reads the items of a partition in a range of sort keys, page by page. */
  itemPages(
    pk: string,
    { from, to }: KeyRange,
    options: Pick<QueryCommandInput, 'Limit' | 'ProjectionExpression'> = {},
  ): AsyncGenerator<readonly Item[]> {
    return this.pages({
      KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
      ExpressionAttributeValues: { ':pk': { S: pk }, ':from': { S: from }, ':to': { S: to } },
      ConsistentRead: true,
      ...options,
    });
  }

  /** Reads the entries of an index in one partition and a range of keys, page by page. */
  indexPages(
    index: IndexName,
    partition: string,
    { from = '0', to = LAST_KEY, Limit }: Partial<KeyRange> & Pick<QueryCommandInput, 'Limit'> = {},
  ): AsyncGenerator<readonly Item[]> {
    const { hash, range } = INDEXES[index];
    return this.pages({
      IndexName: index,
      KeyConditionExpression: '#hash = :hash AND #range BETWEEN :from AND :to',
      ExpressionAttributeNames: { '#hash': hash, '#range': range },
      ExpressionAttributeValues: { ':hash': { S: partition }, ':from': { S: from }, ':to': { S: to } },
      Limit,
    });
  }

  private async readEach(keys: readonly ItemKey[]): Promise<readonly Item[]> {
    const { TableName } = this;
    const items: Item[] = [];
    let remaining = keys.map(keyItem);
    for (let attempt = 0; remaining.length > 0;) {
      const Keys = remaining.splice(0, READS_A_BATCH);
      const RequestItems = { [TableName]: { Keys, ConsistentRead: true } };
      const command = new BatchGetItemCommand({ RequestItems });
      const { Responses, UnprocessedKeys } = await this.retry(() => this.client.send(command));
      const found = Responses?.[TableName] ?? [];
      items.push(...found);
      const unread = UnprocessedKeys?.[TableName]?.Keys ?? [];
      remaining = [...unread, ...remaining];
      // A reply has at most 16 MB. Items that did not fit were not throttled, so they do not count as an attempt.
      attempt = found.length > 0 ? 0 : attempt + 1;
      if (found.length === 0 && unread.length > 0) await this.pause(attempt - 1);
    }
    return items;
  }

  private async *pages(query: Omit<QueryCommandInput, 'TableName'>): AsyncGenerator<readonly Item[]> {
    const { TableName } = this;
    let ExclusiveStartKey: Item | undefined;
    do {
      const command = new QueryCommand({ TableName, ...query, ExclusiveStartKey });
      const page = await this.retry(() => this.client.send(command));
      yield page.Items ?? [];
      ExclusiveStartKey = page.LastEvaluatedKey;
    } while (ExclusiveStartKey);
  }

  private async writeAll(requests: readonly WriteRequest[], size: number): Promise<void> {
    const { TableName } = this;
    let remaining = [...requests];
    for (let attempt = 0; remaining.length > 0;) {
      const batch = remaining.splice(0, size);
      const command = new BatchWriteItemCommand({ RequestItems: { [TableName]: batch } });
      const { UnprocessedItems } = await this.retry(() => this.client.send(command));
      const unwritten = UnprocessedItems?.[TableName] ?? [];
      remaining = [...unwritten, ...remaining];
      attempt = unwritten.length < batch.length ? 0 : attempt + 1;
      if (unwritten.length > 0) await this.pause(attempt);
    }
  }

  private retry<T>(send: () => Promise<T>, ambiguity?: Ambiguity): Promise<T> {
    return retryThrottled(send, { table: this.TableName, clock: this.clock, ambiguity });
  }

  private async pause(attempt: number): Promise<void> {
    checkAttempts(attempt, this.TableName);
    await backOff(attempt, this.clock);
  }

  private async conditional(
    ambiguity: Ambiguity | undefined,
    send: () => Promise<unknown>,
  ): Promise<ConditionalWrite> {
    try {
      await this.retry(send, ambiguity);
      return { isDone: true, isAmbiguous: false };
    } catch (error) {
      if (!isConditionFailure(error)) throw error;
      return { isDone: false, isAmbiguous: ambiguity?.isAmbiguous ?? false };
    }
  }
}

function condition(rev: string | undefined): {
  readonly ConditionExpression: string;
  readonly ExpressionAttributeValues?: Item;
} {
  if (rev === undefined) return { ConditionExpression: 'attribute_not_exists(pk)' };
  return { ConditionExpression: 'rev = :rev', ExpressionAttributeValues: { ':rev': { S: rev } } };
}
