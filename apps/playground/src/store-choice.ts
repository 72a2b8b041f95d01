import { join } from 'node:path';
import {
  CreateTableCommand,
  DynamoDBClient,
  ResourceInUseException,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { MemorySessionStore } from '@holdfast/core';
import type { SessionStore } from '@holdfast/core';
import { DynamoDbSessionStore, tableDefinition } from '@holdfast/store-dynamodb';
import { RedisSessionStore } from '@holdfast/store-redis';
import { SqliteSessionStore } from '@holdfast/store-sqlite';

/** Where the stores find their servers. */
export interface StoreEnvironment {
  readonly redisUrl: string;
  /** The address of a server with DynamoDB's protocol; absent: AWS itself, by its environment variables. */
  readonly dynamoDbEndpoint: string | undefined;
  readonly dynamoDbTable: string;
}

/** Opens a store for a data folder. */
type OpenStore = (data: string, environment: StoreEnvironment) => Promise<SessionStore>;

const stores = {
  sqlite: (data) => SqliteSessionStore.open({ path: join(data, 'sessions.db') }),
  memory: async () => new MemorySessionStore(),
  redis: (_, { redisUrl }) => RedisSessionStore.open({ url: redisUrl }),
  dynamodb: openDynamoDb,
} satisfies Readonly<Record<string, OpenStore>>;

/** The name of a store. */
export type StoreName = keyof typeof stores;

export const STORE_NAMES = Object.keys(stores) as readonly StoreName[];

export function openStore(
  name: StoreName,
  data: string,
  environment: StoreEnvironment,
): Promise<SessionStore> {
  return stores[name](data, environment);
}

/** Creates the table if it is missing. */
async function openDynamoDb(
  _data: string,
  { dynamoDbEndpoint: endpoint, dynamoDbTable: table }: StoreEnvironment,
): Promise<SessionStore> {
  // A local server needs no account, but the client requires credentials.
  const own = endpoint === undefined ? {} : { endpoint, region: 'local', credentials: LOCAL_CREDENTIALS };
  const client = new DynamoDBClient(own);
  try {
    await client.send(new CreateTableCommand(tableDefinition(table))).catch((error: unknown) => {
      if (!(error instanceof ResourceInUseException)) throw error;
    });
    const patience = { minDelay: 1, maxDelay: 5, maxWaitTime: 60 }; // in seconds
    await waitUntilTableExists({ client, ...patience }, { TableName: table });
  } finally {
    client.destroy();
  }
  return DynamoDbSessionStore.open({ table, ...own });
}

const LOCAL_CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' };
