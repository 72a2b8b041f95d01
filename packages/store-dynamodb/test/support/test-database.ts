import { randomUUID } from 'node:crypto';
import {
  CreateTableCommand,
  DeleteItemCommand,
  DeleteTableCommand,
  DynamoDBClient,
  paginateScan,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { FaultProxy } from '@holdfast/conformance/proxy';
import {
  DynamoDbSessionStore,
  tableDefinition,
  type DynamoDbTableOptions,
  type TableOptions,
} from '@holdfast/store-dynamodb';
import { DynamoDbServer } from 'test-servers';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { dynamoDbProxy } from './dynamodb-proxy.ts';
import { RequestProxy } from './request-proxy.ts';
import { partitionOf } from '../../src/table/keys.ts';
import { itemAt, withRecordText, type StoredItem } from './stored-items.ts';

interface TestDatabaseOptions {
  /** The clients connect to `faults` instead of `proxy`. */
  readonly hasFaults?: boolean;
}

/** The environment of a test: a database behind a proxy, and stores in tables of their own. */
export interface TestDatabase {
  readonly proxy: RequestProxy;
  /** A proxy that injects network faults. The clients use it if the database was started with `hasFaults`. */
  readonly faults: FaultProxy;
  /** Creates a client of the proxy. `maxAttempts` is the number of attempts of the SDK. */
  readonly client: (maxAttempts?: number) => DynamoDBClient;
  /** Copies the items of a table, past the proxy. The returned function restores them. */
  readonly remember: (table: string) => Promise<() => Promise<void>>;
  /** Changes the text of the record in the header of a session, past the proxy. */
  readonly corrupt: (table: string, sessionId: string, change: (record: string) => string) => Promise<void>;
  /** Counts the items of a table, past the proxy. */
  readonly countItems: (table: string) => Promise<number>;
  readonly newTable: (options?: TableOptions) => Promise<string>;
  /** Creates a store in a new table, or in the table of the options. */
  readonly newStore: (
    options?: Partial<DynamoDbTableOptions> & { readonly maxAttempts?: number },
  ) => Promise<DynamoDbSessionStore>;
}

/**
 * Starts a database for the tests of a file: dynalite, or the server at `DYNAMODB_ENDPOINT`. After the tests, it checks
 * that no request has scanned a table.
 */
export function testDatabase({ hasFaults = false }: TestDatabaseOptions = {}): TestDatabase {
  const { DYNAMODB_ENDPOINT } = process.env;
  const opened: { server?: DynamoDbServer; endpoint?: string; proxy?: RequestProxy; faults?: FaultProxy } =
    {};
  const clients: DynamoDBClient[] = [];
  const tables: string[] = [];
  const running = <T>(found: T | undefined): T => {
    if (found !== undefined) return found;
    throw new Error('The database runs only while tests do.');
  };
  const proxy = (): RequestProxy => running(opened.proxy);
  const faults = (): FaultProxy => running(opened.faults);
  const clientOf = (endpoint: string, maxAttempts = 3): DynamoDBClient => {
    const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
    const made = new DynamoDBClient({ endpoint, region: 'us-east-1', credentials, maxAttempts });
    clients.push(made);
    return made;
  };
  const client = (maxAttempts?: number): DynamoDBClient =>
    clientOf(hasFaults ? `http://127.0.0.1:${faults().port}` : proxy().endpoint, maxAttempts);
  const remember = async (table: string): Promise<() => Promise<void>> => {
    const direct = clientOf(opened.endpoint ?? '');
    const before = await itemsIn(direct, table);
    return async () => {
      for (const { pk, sk } of await itemsIn(direct, table)) {
        if (pk && sk) await direct.send(new DeleteItemCommand({ TableName: table, Key: { pk, sk } }));
      }
      for (const Item of before) await direct.send(new PutItemCommand({ TableName: table, Item }));
    };
  };
  const corrupt: TestDatabase['corrupt'] = async (table, sessionId, change) => {
    const direct = clientOf(opened.endpoint ?? '');
    const header = await itemAt(direct, table, { pk: { S: partitionOf(sessionId) }, sk: { S: 'A' } });
    const Item = await withRecordText(header ?? {}, change);
    await direct.send(new PutItemCommand({ TableName: table, Item }));
  };
  const newTable = async ({ isActivityListed }: TableOptions = {}): Promise<string> => {
    const name = `sessions-${randomUUID()}`;
    await client().send(new CreateTableCommand(tableDefinition(name, { isActivityListed })));
    tables.push(name);
    return name;
  };

  beforeAll(async () => {
    let endpoint = DYNAMODB_ENDPOINT;
    if (endpoint === undefined) {
      opened.server = await DynamoDbServer.start();
      ({ endpoint } = opened.server);
    }
    opened.endpoint = endpoint;
    opened.proxy = await RequestProxy.to(endpoint);
    opened.faults = await dynamoDbProxy(endpoint, opened.proxy.operations);
  });

  afterEach(() => {
    proxy().fault = undefined;
  });

  afterAll(async () => {
    const { operations } = proxy();
    const left = opened.server ? [] : tables;
    for (const TableName of left) await client().send(new DeleteTableCommand({ TableName }));
    for (const made of clients) made.destroy();
    await Promise.all([proxy().close(), faults().close()]);
    await opened.server?.stop();
    expect(operations).not.toContain('Scan');
  });

  return {
    get proxy() {
      return proxy();
    },
    get faults() {
      return faults();
    },
    client,
    remember,
    corrupt,
    countItems: async (table) => (await itemsIn(clientOf(opened.endpoint ?? ''), table)).length,
    newTable,
    async newStore({ maxAttempts, ...options } = {}) {
      const table = options.table ?? (await newTable(options));
      const made = client(maxAttempts);
      if (hasFaults) await shortenPauses(made);
      return new DynamoDbSessionStore({ ...options, table, client: made });
    },
  };
}

/** Keeps the retries of the SDK. It waits up to a second before each retry of a throttled request. */
async function shortenPauses({ config }: DynamoDBClient): Promise<void> {
  const strategy = await config.retryStrategy();
  if (!('retryBackoffStrategy' in strategy)) throw new Error('The SDK computes its pauses in another place.');
  strategy.retryBackoffStrategy = { setDelayBase: () => undefined, computeNextBackoffDelay: () => 10 };
}

/** All items of a table. */
async function itemsIn(client: DynamoDBClient, TableName: string): Promise<StoredItem[]> {
  const items: StoredItem[] = [];
  for await (const page of paginateScan({ client }, { TableName, ConsistentRead: true })) {
    items.push(...(page.Items ?? []));
  }
  return items;
}
