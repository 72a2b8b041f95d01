import type { CreateTableCommandInput, DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { systemClock } from '@holdfast/core';
import {
  BackedSpendingLedger,
  KEEP_IDS_SECONDS,
  spendingOptionChecks,
  type SpendingLedgerOptions,
} from '@holdfast/core/spending';
import { checkArgument } from '@holdfast/core/store';
import { openOnTable, TABLE_CHECK, tableChecks } from '../table/client.ts';
import type { DynamoDbSender } from '../table/requests.ts';
import { TABLE_NAME } from '../table/table-definition.ts';
import { Table } from '../table/table.ts';
import { AccountTable } from './account-table.ts';
import { DynamoDbSpendingBackend } from './dynamodb-spending-backend.ts';

/** The options of a ledger in a table. */
export interface DynamoDbLedgerOptions extends SpendingLedgerOptions {
  /** The name of the table, which holds the ledger alone. Create it with `spendingTableDefinition`. */
  readonly table: string;
}

/** The options of `new DynamoDbSpendingLedger`. */
export interface DynamoDbSpendingLedgerOptions extends DynamoDbLedgerOptions {
  /** A `DynamoDBClient`, which the caller closes. */
  readonly client: DynamoDbSender;
}

/**
 * The options of `DynamoDbSpendingLedger.open`. The client reads `credentials`, `endpoint` and `region` from the
 * environment when they are omitted.
 */
export interface OpenDynamoDbLedgerOptions
  extends DynamoDbLedgerOptions, Pick<DynamoDBClientConfig, 'credentials' | 'endpoint' | 'region'> {}

const checks = tableChecks<DynamoDbLedgerOptions>('DynamoDbSpendingLedger', {
  ...spendingOptionChecks,
  ...TABLE_CHECK,
});

/**
 * The definition of the table of a ledger, with on-demand billing. Enable native TTL on its attribute `expires`, so that
 * DynamoDB removes the ids of settled calls.
 *
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for an empty name
 * @example
 * await client.send(new CreateTableCommand(spendingTableDefinition('spending')));
 */
export function spendingTableDefinition(name: string): CreateTableCommandInput {
  checkArgument('name', name, TABLE_NAME);
  return {
    TableName: name,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [
      { AttributeName: 'pk', AttributeType: 'S' },
      { AttributeName: 'sk', AttributeType: 'S' },
    ],
    KeySchema: [
      { AttributeName: 'pk', KeyType: 'HASH' },
      { AttributeName: 'sk', KeyType: 'RANGE' },
    ],
  };
}

/**
 * Counts in a DynamoDB table what owners spend. Any number of processes in one region can share the table.
 *
 * @example
 * const ledger = new DynamoDbSpendingLedger({ client: new DynamoDBClient({}), table: 'spending' });
 */
export class DynamoDbSpendingLedger extends BackedSpendingLedger {
  private readonly accounts: AccountTable;

  /** @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or an invalid value */
  constructor(options: DynamoDbSpendingLedgerOptions) {
    const { client, table, clock = systemClock, keepIdsSeconds = KEEP_IDS_SECONDS } = checks.ofNew(options);
    const accounts = new AccountTable(new Table(client, table, systemClock));
    super(new DynamoDbSpendingBackend({ accounts, clock, keepIds: keepIdsSeconds * 1_000 }));
    this.accounts = accounts;
  }

  /**
   * Creates a ledger and its client. `close` destroys the client.
   * @throws StoreUnavailableError `STORE_UNAVAILABLE` when no server replies, or the table does not exist
   * @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or an invalid value
   */
  static open(options: OpenDynamoDbLedgerOptions): Promise<DynamoDbSpendingLedger> {
    return openOnTable(checks, options, async (given) => {
      const ledger = new DynamoDbSpendingLedger(given);
      await ledger.accounts.check();
      return ledger;
    });
  }
}
