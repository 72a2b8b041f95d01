import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { QueryCommandInput, WriteRequest } from '@aws-sdk/client-dynamodb';
import type { Clock } from '@holdfast/core';
import type { Item } from './item-size.ts';
import { HEADER } from './keys.ts';
import type { ItemKey } from './keys.ts';
import { attempted, backOff, isConditionFailure, refuseTooMany, watched } from './requests.ts';
import type { DynamoDbSender, Outcome } from './requests.ts';
import { SHARD } from './table-definition.ts';
import type { IndexName } from './table-definition.ts';

/** How a conditional write ended. */
export interface Flip extends Outcome {
  readonly isDone: boolean;
}

const WRITES_A_BATCH = 25;
/** A request holds 16 MB, a part of an entry a third of one, and base64 makes four bytes of three. */
const PARTS_A_BATCH = 10;
const READS_A_BATCH = 100;
/** Sorts after every key of an index. */
const LAST = '~';

/** The requests that the store makes of its table. All reads of the table are consistent; it is never scanned. */
export class Table {
  private readonly client: DynamoDbSender;
  readonly TableName: string;
  private readonly clock: Clock;

  constructor(client: DynamoDbSender, name: string, clock: Clock) {
    this.client = client;
    this.TableName = name;
    this.clock = clock;
  }

  async get(key: ItemKey): Promise<Item | undefined> {
    const { TableName } = this;
    const command = new GetItemCommand({ TableName, Key: keyItem(key), ConsistentRead: true });
    return (await this.attempted(() => this.client.send(command))).Item;
  }

  /** The headers of sessions, by partition; those that are not there are left out. */
  async headers(partitions: readonly string[]): Promise<ReadonlyMap<string, Item>> {
    const items = await this.getEach(partitions.map((pk) => ({ pk, sk: HEADER })));
    return new Map(items.map((item) => [item['pk']?.S ?? '', item]));
  }

  async getEach(keys: readonly ItemKey[]): Promise<readonly Item[]> {
    const { TableName } = this;
    const items: Item[] = [];
    let left = keys.map(keyItem);
    for (let attempt = 0; left.length > 0;) {
      const Keys = left.splice(0, READS_A_BATCH);
      const RequestItems = { [TableName]: { Keys, ConsistentRead: true } };
      const command = new BatchGetItemCommand({ RequestItems });
      const { Responses, UnprocessedKeys } = await this.attempted(() => this.client.send(command));
      const found = Responses?.[TableName] ?? [];
      items.push(...found);
      const unread = UnprocessedKeys?.[TableName]?.Keys ?? [];
      left = [...unread, ...left];
      // A reply holds 16 MB: what is left out of a full one is no throttling.
      attempt = found.length > 0 ? 0 : attempt + 1;
      if (found.length === 0 && unread.length > 0) await this.pause(attempt - 1);
    }
    return items;
  }

  async put(item: Item): Promise<void> {
    const { TableName } = this;
    const command = new PutItemCommand({ TableName, Item: item });
    await this.attempted(() => this.client.send(command));
  }

  /** Puts a header, if the one that is there has this revision; or none is, when it is `undefined`. */
  async flip(item: Item, rev: string | undefined): Promise<Flip> {
    const { TableName } = this;
    const command = new PutItemCommand({ TableName, Item: item, ...condition(rev) });
    return this.conditional(watched(command), () => this.client.send(command));
  }

  /** Deletes a header that has this revision. */
  async dropHeader(pk: string, rev: string): Promise<Flip> {
    const { TableName } = this;
    const Key = keyItem({ pk, sk: HEADER });
    const command = new DeleteItemCommand({ TableName, Key, ...condition(rev) });
    return this.conditional(watched(command), () => this.client.send(command));
  }

  /** Gives an attribute of an item another value, or none, if it still has the one that it had. */
  async change(key: ItemKey, name: string, from: string, to: string | undefined): Promise<void> {
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

  /** Puts the parts of something, in any order. */
  async putParts(items: readonly Item[]): Promise<void> {
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

  /** The pages of a query, each as it is read. */
  async *pages(query: Omit<QueryCommandInput, 'TableName'>): AsyncGenerator<readonly Item[]> {
    const { TableName } = this;
    let ExclusiveStartKey: Item | undefined;
    do {
      const command = new QueryCommand({ TableName, ...query, ExclusiveStartKey });
      const page = await this.attempted(() => this.client.send(command));
      yield page.Items ?? [];
      ExclusiveStartKey = page.LastEvaluatedKey;
    } while (ExclusiveStartKey);
  }

  /** The pages of an index's shard, or of the part of it whose keys are in a range. */
  shardPages(
    index: IndexName,
    shard: string,
    { from = '0', to = LAST, Limit }: { from?: string; to?: string; Limit?: number } = {},
  ): AsyncGenerator<readonly Item[]> {
    return this.pages({
      IndexName: index,
      KeyConditionExpression: '#shard = :shard AND #key BETWEEN :from AND :to',
      ExpressionAttributeNames: { '#shard': SHARD, '#key': index },
      ExpressionAttributeValues: { ':shard': { S: shard }, ':from': { S: from }, ':to': { S: to } },
      Limit,
    });
  }

  private async writeAll(requests: readonly WriteRequest[], size: number): Promise<void> {
    const { TableName } = this;
    let left = [...requests];
    for (let attempt = 0; left.length > 0;) {
      const batch = left.splice(0, size);
      const command = new BatchWriteItemCommand({ RequestItems: { [TableName]: batch } });
      const { UnprocessedItems } = await this.attempted(() => this.client.send(command));
      const unwritten = UnprocessedItems?.[TableName] ?? [];
      left = [...unwritten, ...left];
      attempt = unwritten.length < batch.length ? 0 : attempt + 1;
      if (unwritten.length > 0) await this.pause(attempt);
    }
  }

  private attempted<T>(run: () => Promise<T>, outcome?: Outcome): Promise<T> {
    return attempted(run, { table: this.TableName, clock: this.clock, outcome });
  }

  private async pause(attempt: number): Promise<void> {
    refuseTooMany(attempt, this.TableName);
    await backOff(attempt, this.clock);
  }

  private async conditional(outcome: Outcome | undefined, run: () => Promise<unknown>): Promise<Flip> {
    try {
      await this.attempted(run, outcome);
      return { isDone: true, isDoubtful: false };
    } catch (error) {
      if (!isConditionFailure(error)) throw error;
      return { isDone: false, isDoubtful: outcome?.isDoubtful ?? false };
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

function keyItem({ pk, sk }: ItemKey): Item {
  return { pk: { S: pk }, sk: { S: sk } };
}
