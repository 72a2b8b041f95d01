import type { CreateTableCommandInput, GlobalSecondaryIndex } from '@aws-sdk/client-dynamodb';
import { checkArgument, mustBe, optionsCheck, type ArgumentCheck } from '@holdfast/core/store';

/** The attribute that partitions an index into shards. The name is a reserved word in DynamoDB expressions. */
export const SHARD = 'shard';
/** The attribute that partitions an index by the owners of sessions. The name is a reserved word too. */
export const OWNER = 'owner';

/** The indexes, each with the attributes that partition and order its items. Only headers have an owner. */
export const INDEXES = {
  created: { hash: SHARD, range: 'created' },
  active: { hash: SHARD, range: 'active' },
  due: { hash: SHARD, range: 'due' },
  sweep: { hash: SHARD, range: 'sweep' },
  ownedCreated: { hash: OWNER, range: 'created' },
  ownedActive: { hash: OWNER, range: 'active' },
} as const;

export type IndexName = keyof typeof INDEXES;

const INDEX_NAMES: readonly IndexName[] = [
  'created',
  'active',
  'due',
  'sweep',
  'ownedCreated',
  'ownedActive',
];

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
  const indexes = INDEX_NAMES.filter((index) => isActivityListed || INDEXES[index].range !== 'active');
  const keys = indexes.flatMap((index) => [INDEXES[index].hash, INDEXES[index].range]);
  const attributes = [...new Set(['pk', 'sk', ...keys])];
  return {
    TableName: name,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: attributes.map((AttributeName) => ({ AttributeName, AttributeType: 'S' as const })),
    KeySchema: keySchema('pk', 'sk'),
    GlobalSecondaryIndexes: indexes.map((IndexName): GlobalSecondaryIndex => ({
      IndexName,
      KeySchema: keySchema(INDEXES[IndexName].hash, INDEXES[IndexName].range),
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
