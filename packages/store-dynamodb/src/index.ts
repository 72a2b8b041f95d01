export type { BlobOptions, BlobStore } from './blobs/blob-store.ts';
export { DynamoDbSessionChannel } from './channel/dynamodb-session-channel.ts';
export type {
  DynamoDbChannelOptions,
  DynamoDbSessionChannelOptions,
  OpenDynamoDbChannelOptions,
} from './channel/dynamodb-session-channel.ts';
export { DynamoDbSessionStore } from './dynamodb-session-store.ts';
export type {
  DynamoDbSessionStoreOptions,
  DynamoDbTableOptions,
  OpenDynamoDbOptions,
} from './dynamodb-session-store.ts';
export type { DynamoDbSender } from './table/requests.ts';
export { tableDefinition } from './table/table-definition.ts';
export type { TableOptions } from './table/table-definition.ts';
export { DynamoDbSpendingLedger, spendingTableDefinition } from './spending/dynamodb-spending-ledger.ts';
export type {
  DynamoDbLedgerOptions,
  DynamoDbSpendingLedgerOptions,
  OpenDynamoDbLedgerOptions,
} from './spending/dynamodb-spending-ledger.ts';
