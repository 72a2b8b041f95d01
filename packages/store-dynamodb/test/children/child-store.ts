import {
  DynamoDbSessionChannel,
  DynamoDbSessionStore,
  type DynamoDbTableOptions,
} from '@holdfast/store-dynamodb';

const [endpoint = '', table = ''] = process.argv.slice(2);

/** The store on the table that the first arguments of a child process name. */
export function openChildStore(options: Partial<DynamoDbTableOptions> = {}): Promise<DynamoDbSessionStore> {
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
  return DynamoDbSessionStore.open({ table, endpoint, region: 'us-east-1', credentials, ...options });
}

/** A channel on the same table. */
export function openChildChannel(): Promise<DynamoDbSessionChannel> {
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
  return DynamoDbSessionChannel.open({ table, endpoint, region: 'us-east-1', credentials });
}
