import type { CreateTableCommandInput, GlobalSecondaryIndex } from '@aws-sdk/client-dynamodb';
import { checkArgument, mustBe, optionsCheck } from '@holdfast/core/store';
import type { ArgumentCheck } from '@holdfast/core/store';

/** The indexes, each by the attribute of its name within a shard. */
export type IndexName = 'created' | 'active' | 'due' | 'sweep';

/** The attribute that all indexes are partitioned by. A reserved word in expressions. */
export const SHARD = 'shard';

/** How a table is made. */
export interface TableOptions {
  /** Whether sessions can be listed by their last activity. The same as in the options of the store. Default: true. */
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
 * The table that the store works on, billed by request; change what you like but keys and indexes.
 *
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or a value that does not fit.
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
