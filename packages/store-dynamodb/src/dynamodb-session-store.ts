import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { systemClock } from '@holdfast/core';
import { mustBe, optionsCheck, storeOptionChecks } from '@holdfast/core/store';
import { BackedSessionStore } from '@holdfast/core/store';
import type { Clock } from '@holdfast/core';
import type { OptionChecks } from '@holdfast/core/store';
import type { StoreOptions } from '@holdfast/core/store';
import type { BlobOptions } from './blob-store.ts';
import { Blobs } from './blobs.ts';
import { DynamoDbBackend } from './dynamodb-backend.ts';
import type { IndexOptions } from './header.ts';
import { Inbox } from './inbox.ts';
import { MAX_VALUE_BYTES } from './plan-entries.ts';
import type { DynamoDbSender } from './requests.ts';
import { SessionBlobs } from './session-blobs.ts';
import { SessionReader } from './session-reader.ts';
import { ShardMover } from './shard-mover.ts';
import { MAX_SHARDS, Shards } from './shards.ts';
import { Staging } from './staging.ts';
import { sweepMarks } from './sweep-marks.ts';
import { Sweeper } from './sweeper.ts';
import { TABLE_NAME } from './table-definition.ts';
import type { TableOptions } from './table-definition.ts';
import { Table } from './table.ts';

/** What the store needs to know of its table. All processes that share a table say the same. */
export interface DynamoDbTableOptions extends StoreOptions, TableOptions {
  /** A table made from `tableDefinition`. */
  readonly table: string;
  /**
   * How many shards each index has at least, 1 to 100. A new table has 4 by default; more are made of a table that has
   * fewer, while it is in use, and `prune` moves its sessions. While sessions move, `open` refuses still more, and other
   * stores work with what there is, and raise the number afterwards. One shard takes about 500 claims and releases a second; a
   * list asks each.
   */
  readonly shards?: number | undefined;
  /**
   * After how many saves, at least, a session's log is written anew as a whole, at the cost of its size. Only once as
   * many bytes were added. Default 200.
   */
  readonly compactAfter?: number | undefined;
  /**
   * Where large values are kept, beside the table; absent: in it. Sessions that have such values can be loaded, changed
   * and deleted only by stores that are told the same.
   */
  readonly blobs?: BlobOptions | undefined;
}

/** A table, and the client to reach it by. */
export interface DynamoDbSessionStoreOptions extends DynamoDbTableOptions {
  /** A `DynamoDBClient`. It stays open. */
  readonly client: DynamoDbSender;
}

/** As those of a `DynamoDBClient`; what is left out comes from the environment. */
export interface OpenDynamoDbOptions
  extends DynamoDbTableOptions, Pick<DynamoDBClientConfig, 'credentials' | 'endpoint' | 'region'> {}

const TABLE_CHECKS: OptionChecks<DynamoDbTableOptions> = {
  ...storeOptionChecks,
  table: mustBe.required(TABLE_NAME),
  isActivityListed: mustBe.boolean,
  shards: mustBe.wholeNumber(1, MAX_SHARDS),
  compactAfter: mustBe.wholeNumber(1),
  blobs: mustBe.object,
};

const ADVICE = {
  tableName: 'write "table"',
  TableName: 'write "table"',
  ttl: 'give an expiry, as in expiry: { afterSeconds: 3600 }',
  bucket: 'give blobs, as in blobs: { store: bucket }',
};

const checkOptions = optionsCheck<DynamoDbSessionStoreOptions>(
  'DynamoDbSessionStore',
  {
    ...TABLE_CHECKS,
    client: mustBe.required(
      mustBe.objectWith('a DynamoDBClient, or use DynamoDbSessionStore.open({ table })', ['send']),
    ),
  },
  { ...ADVICE, region: 'the client has it, as in client: new DynamoDBClient({ region })' },
);

const checkOpenOptions = optionsCheck<OpenDynamoDbOptions>(
  'DynamoDbSessionStore.open',
  {
    ...TABLE_CHECKS,
    credentials: mustBe.secret(mustBe.anything),
    endpoint: mustBe.anything,
    region: mustBe.anything,
  },
  { ...ADVICE, client: 'new DynamoDbSessionStore({ client, table }) takes one' },
);

const checkBlobOptions = optionsCheck<BlobOptions>('blobs', {
  store: mustBe.required(
    mustBe.objectWith('an object with put(), get() and delete()', ['put', 'get', 'delete']),
  ),
  fromBytes: mustBe.wholeNumber(1, MAX_VALUE_BYTES),
});

/** A fourth of what a partition takes in a second, were it in the table. */
const BLOB_BYTES = 256 * 1024;
const CONNECTION_MILLISECONDS = 3_000;
const REQUEST_MILLISECONDS = 15_000;

/**
 * Keeps sessions in a DynamoDB table. Any number of processes in one region may share it.
 *
 * @example
 * const store = new DynamoDbSessionStore({ client: new DynamoDBClient({}), table: 'sessions' });
 */
export class DynamoDbSessionStore extends BackedSessionStore {
  private readonly shards: Shards;
  private ownClient: DynamoDBClient | undefined;

  /** @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or a value that does not fit. */
  constructor(options: DynamoDbSessionStoreOptions) {
    const { clock, expiry, maxInboxItems } = checkOptions(options);
    const { backend, shards } = backendOf(options);
    super(backend, { clock, expiry, maxInboxItems });
    this.shards = shards;
  }

  /**
   * A store with a client of its own, which `close()` destroys.
   * @throws StoreUnavailableError when no server answers, or has no such table; StateFormatError when another layout is
   * there; RangeError or TypeError `ARGUMENT_INVALID` as the constructor.
   */
  static async open(options: OpenDynamoDbOptions): Promise<DynamoDbSessionStore> {
    const { credentials, endpoint, region, ...tableOptions } = checkOpenOptions(options);
    const client = newClient({ credentials, endpoint, region });
    try {
      const store = new DynamoDbSessionStore({ ...tableOptions, client });
      store.ownClient = client;
      await store.shards.refuseThird();
      return store;
    } catch (error) {
      client.destroy();
      throw error;
    }
  }

  /** Destroys the client, if the store made it. */
  override async close(): Promise<void> {
    await super.close();
    this.ownClient?.destroy();
  }
}

function newClient(connection: object): DynamoDBClient {
  const given = Object.entries(connection).filter(([, value]) => value !== undefined);
  return new DynamoDBClient({
    ...Object.fromEntries(given),
    requestHandler: { connectionTimeout: CONNECTION_MILLISECONDS, requestTimeout: REQUEST_MILLISECONDS },
  });
}

function backendOf(options: DynamoDbSessionStoreOptions): {
  readonly backend: DynamoDbBackend;
  readonly shards: Shards;
} {
  const { client, table: name, clock = systemClock, compactAfter = 200 } = options;
  const { isActivityListed = true } = options;
  const table = new Table(client, name, clock);
  const blobs = options.blobs && blobsOf(options.blobs);
  const shards = new Shards(table, clock, options.shards);
  const index = { shards, isActivityListed };
  return { backend: tableBackend({ table, clock, blobs, compactAfter, index }), shards };
}

interface TableBackendInit {
  readonly table: Table;
  readonly clock: Clock;
  readonly blobs: Blobs | undefined;
  readonly compactAfter: number;
  readonly index: IndexOptions;
}

function tableBackend({
  table,
  clock,
  blobs: store,
  compactAfter,
  index,
}: TableBackendInit): DynamoDbBackend {
  const marks = sweepMarks(index.shards, clock);
  const reader = new SessionReader(table, store);
  const blobs = store && new SessionBlobs({ table, reader, blobs: store, marks, clock, index });
  const inbox = new Inbox({ table, reader, marks, blobs: store, clock });
  const staging = new Staging({ reader, inbox, marks, compactAfter, blobsFrom: store?.fromBytes });
  const sweeper = new Sweeper({ table, inbox, shards: index.shards, marks, blobs });
  const mover = new ShardMover(table, index.shards);
  return new DynamoDbBackend({ table, reader, staging, inbox, sweeper, mover, blobs }, index);
}

function blobsOf(options: BlobOptions): Blobs {
  const { store, fromBytes = BLOB_BYTES } = checkBlobOptions(options);
  return new Blobs(store, fromBytes);
}
