import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  CreateTableCommand,
  DynamoDBClient,
  ResourceInUseException,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { MemorySessionStore, type SessionStore, type SessionDirectory } from '@holdfast/core';
import { MemorySessionChannel, type SessionChannel } from '@holdfast/core/channel';
import { DynamoDbSessionChannel, DynamoDbSessionStore, tableDefinition } from '@holdfast/store-dynamodb';
import { RedisSessionChannel, RedisSessionStore } from '@holdfast/store-redis';
import { SqliteSessionChannel, SqliteSessionStore } from '@holdfast/store-sqlite';

/** Where the stores find their servers. */
export interface StoreEnvironment {
  readonly redisUrl: string;
  /** The address of a server with DynamoDB's protocol; absent: AWS itself, by its environment variables. */
  readonly dynamoDbEndpoint: string | undefined;
  readonly dynamoDbTable: string;
}

/** The sessions, and the channel that shows them live. */
export interface Storage {
  readonly store: SessionStore & SessionDirectory;
  readonly channel: SessionChannel;
}

/** Opens a store for a data folder. */
type OpenStorage = (data: string, environment: StoreEnvironment) => Promise<Storage>;

const stores = {
  sqlite: async (data) => ({
    store: await SqliteSessionStore.open({ path: join(data, 'sessions.db') }),
    channel: await SqliteSessionChannel.open({ path: join(data, 'live.db') }),
  }),
  memory: async () => ({ store: new MemorySessionStore(), channel: new MemorySessionChannel() }),
  redis: async (_, { redisUrl: url }) => ({
    store: await RedisSessionStore.open({ url }),
    channel: await RedisSessionChannel.open({ url }),
  }),
  dynamodb: openDynamoDb,
} satisfies Readonly<Record<string, OpenStorage>>;

/** The name of a store. */
export type StoreName = keyof typeof stores;

export const STORE_NAMES = Object.keys(stores) as readonly StoreName[];

export async function openStorage(
  name: StoreName,
  data: string,
  environment: StoreEnvironment,
): Promise<Storage> {
  await mkdir(data, { recursive: true, mode: 0o700 }); // it holds conversations and notes, with every store
  return stores[name](data, environment);
}

/** Creates the table if it is missing. */
async function openDynamoDb(
  _data: string,
  { dynamoDbEndpoint: endpoint, dynamoDbTable: table }: StoreEnvironment,
): Promise<Storage> {
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
  const options = { table, ...own };
  return {
    store: await DynamoDbSessionStore.open(options),
    channel: await DynamoDbSessionChannel.open(options),
  };
}

const LOCAL_CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' };
