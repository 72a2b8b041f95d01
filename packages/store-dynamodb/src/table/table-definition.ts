import type { CreateTableCommandInput, GlobalSecondaryIndex } from '@aws-sdk/client-dynamodb';
import { checkArgument, mustBe, optionsCheck } from '@holdfast/core/store';
import type { ArgumentCheck } from '@holdfast/core/store';

/** The indexes. Each index orders the items of a shard by the attribute with its name. */
export type IndexName = 'created' | 'active' | 'due' | 'sweep';

/** The attribute that partitions all indexes. The name is a reserved word in DynamoDB expressions. */
export const SHARD = 'shard';

/** The options of `tableDefinition`. */
export interface TableOptions {
  /**
   * Whether the store can list sessions by their last activity. Pass the same value to `tableDefinition` and to the
   * store. Default: true.
   */
  readonly isActivityListed?: boolean | undefined;
}

/** @internal */
export const TABLE_NAME: ArgumentCheck = {
  expected: 'the name of a table',
  accepts: (value) => typeof value === 'string' && value !== '',
  type: 'string',
};

const checkOptions = optionsCheck<TableOptions>('tableDefinition', { isActivityListed: mustBe.boolean });

/**
 * The definition of the store's table, with on-demand billing. You may change everything but the keys and the indexes.
 *
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for an empty name, an unknown option or an invalid value
 * @example
 * await client.send(new CreateTableCommand(tableDefinition('sessions')));
 */
export function tableDefinition(name: string, options: TableOptions = {}): CreateTableCommandInput {
  checkArgument('name', name, TABLE_NAME);
  const { isActivityListed = true } = checkOptions(options);
  const indexes: IndexName[] = isActivityListed
    ? ['created', 'active', 'due', 'sweep']
    : ['created', 'due', 'sweep'];
  const attributes = ['pk', 'sk', SHARD, ...indexes];
  return {
    TableName: name,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: attributes.map((AttributeName) => ({ AttributeName, AttributeType: 'S' as const })),
    KeySchema: keySchema('pk', 'sk'),
    GlobalSecondaryIndexes: indexes.map((IndexName): GlobalSecondaryIndex => ({
      IndexName,
      KeySchema: keySchema(SHARD, IndexName),
      Projection: { ProjectionType: 'KEYS_ONLY' },
    })),
  };
}

function keySchema(hash: string, range: string): GlobalSecondaryIndex['KeySchema'] {
  return [
    { AttributeName: hash, KeyType: 'HASH' },
    { AttributeName: range, KeyType: 'RANGE' },
  ];
}
