export type { BlobOptions, BlobStore } from './blob-store.ts';
export { DynamoDbSessionStore } from './dynamodb-session-store.ts';
export type {
  DynamoDbSessionStoreOptions,
  DynamoDbTableOptions,
  OpenDynamoDbOptions,
} from './dynamodb-session-store.ts';
export type { DynamoDbSender } from './requests.ts';
export { tableDefinition } from './table-definition.ts';
export type { TableOptions } from './table-definition.ts';
