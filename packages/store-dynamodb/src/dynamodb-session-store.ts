import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { systemClock } from '@holdfast/core';
import { mustBe, optionsCheck, storeOptionChecks } from '@holdfast/core/store';
import { BackedSessionStore } from '@holdfast/core/store';
import type { Clock } from '@holdfast/core';
import type { OptionChecks } from '@holdfast/core/store';
import type { StoreOptions } from '@holdfast/core/store';
import type { BlobOptions } from './blobs/blob-store.ts';
import { Blobs } from './blobs/blobs.ts';
import { NotedBlobs } from './blobs/noted-blobs.ts';
import { DynamoDbBackend } from './dynamodb-backend.ts';
import type { IndexOptions } from './header/header-item.ts';
import { InboxRemoval } from './inbox/inbox-removal.ts';
import { Inbox } from './inbox/inbox.ts';
import { SessionIndex } from './indexes/session-index.ts';
import { MAX_VALUE_BYTES } from './log/plan-entries.ts';
import { IncarnationRemoval } from './session/incarnation-removal.ts';
import { SessionLoader } from './session/session-loader.ts';
import { SessionWrites } from './session/session-writes.ts';
import { Staging } from './session/staging.ts';
import { ShardMover } from './shards/shard-mover.ts';
import { Shards } from './shards/shards.ts';
import { sweepMarks } from './shards/sweep-marks.ts';
import { MAX_SHARDS } from './shards/table-layout.ts';
import { BlobCollector } from './sweep/blob-collector.ts';
import { Sweeper } from './sweep/sweeper.ts';
import type { DynamoDbSender } from './table/requests.ts';
import { TABLE_NAME } from './table/table-definition.ts';
import type { TableOptions } from './table/table-definition.ts';
import { Table } from './table/table.ts';

/** The table and how to use it. All processes that share a table pass the same options. */
export interface DynamoDbTableOptions extends StoreOptions, TableOptions {
  /** The name of a table that was created from `tableDefinition`. */
  readonly table: string;
  /**
   * The least number of shards of each index, 1 to 100. A new table has 4 by default. A table with fewer shards gets
   * more while it is in use, and `prune` moves its sessions. While sessions move, `open` refuses a higher number; a
   * store that was created with `new` uses the present number, and raises it afterwards. One shard takes about 500
   * claims and releases a second. A list queries each shard.
   */
  readonly shards?: number | undefined;
  /**
   * The least number of saves after which a session's log is compacted: written again as a whole, at the cost of its
   * size. The log must also have doubled since. Default 200.
   */
  readonly compactAfterSaves?: number | undefined;
  /**
   * Where large values are stored, outside of the table; absent: in the table. Sessions with such values can be loaded,
   * changed and deleted only by stores with this option.
   */
  readonly blobs?: BlobOptions | undefined;
}

/** The same, with a client that the caller created. */
export interface DynamoDbSessionStoreOptions extends DynamoDbTableOptions {
  /** A `DynamoDBClient`. The store does not close it. */
  readonly client: DynamoDbSender;
}

/** The same, with options of a `DynamoDBClient`; those that are omitted come from the environment. */
export interface OpenDynamoDbOptions
  extends DynamoDbTableOptions, Pick<DynamoDBClientConfig, 'credentials' | 'endpoint' | 'region'> {}

const TABLE_CHECKS: OptionChecks<DynamoDbTableOptions> = {
  ...storeOptionChecks,
  table: mustBe.required(TABLE_NAME),
  isActivityListed: mustBe.boolean,
  shards: mustBe.wholeNumber(1, MAX_SHARDS),
  compactAfterSaves: mustBe.wholeNumber(1),
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
  minBytes: mustBe.wholeNumber(1, MAX_VALUE_BYTES),
});

/** A partition takes four times as many bytes in a second. */
const BLOBS_FROM_BYTES = 256 * 1024;
const CONNECTION_MILLISECONDS = 3_000;
const REQUEST_MILLISECONDS = 15_000;

/**
 * Stores sessions in a DynamoDB table, which any number of processes in one region may share.
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
    const { backend, shards } = newBackend(options);
    super(backend, { clock, expiry, maxInboxItems });
    this.shards = shards;
  }

  /**
   * Creates a store with a client of its own, which `close()` destroys.
   * @throws StoreUnavailableError when no server replies, or the table does not exist; StateFormatError when the table
   * has another layout; RangeError or TypeError `ARGUMENT_INVALID` as the constructor.
   */
  static async open(options: OpenDynamoDbOptions): Promise<DynamoDbSessionStore> {
    const { credentials, endpoint, region, ...tableOptions } = checkOpenOptions(options);
    const client = newClient({ credentials, endpoint, region });
    try {
      const store = new DynamoDbSessionStore({ ...tableOptions, client });
      store.ownClient = client;
      await store.shards.checkRaise();
      return store;
    } catch (error) {
      client.destroy();
      throw error;
    }
  }

  /** Destroys the client, if the store created it. */
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

function newBackend(options: DynamoDbSessionStoreOptions): {
  readonly backend: DynamoDbBackend;
  readonly shards: Shards;
} {
  const { client, table: name, clock = systemClock, compactAfterSaves = 200 } = options;
  const { isActivityListed = true } = options;
  const table = new Table(client, name, clock);
  const blobs = options.blobs && newBlobs(options.blobs);
  const shards = new Shards(table, clock, options.shards);
  const index = { shards, isActivityListed };
  return { backend: assembleBackend({ table, clock, blobs, compactAfterSaves, index }), shards };
}

interface BackendOptions {
  readonly table: Table;
  readonly clock: Clock;
  readonly blobs: Blobs | undefined;
  readonly compactAfterSaves: number;
  readonly index: IndexOptions;
}

function assembleBackend({ table, clock, blobs, compactAfterSaves, index }: BackendOptions): DynamoDbBackend {
  const { shards } = index;
  const marks = sweepMarks(shards, clock);
  const noted = blobs && new NotedBlobs({ table, blobs, marks, clock });
  const loader = new SessionLoader(table, blobs);
  const inbox = new Inbox({ table, readHeader: (pk) => loader.readHeader(pk), marks, blobs });
  const inboxRemoval = new InboxRemoval({ table, blobs, clock });
  const removal = new IncarnationRemoval({ table, inbox: inboxRemoval, marks, blobs: noted });
  const staging = new Staging({ loader, inbox, marks, compactAfterSaves, blobsFromBytes: blobs?.minBytes });
  const collector = noted && new BlobCollector({ table, loader, blobs: noted, index });
  return new DynamoDbBackend({
    loader,
    writes: new SessionWrites({ table, loader, staging, inbox: inboxRemoval, removal, blobs: noted, index }),
    removal,
    inbox,
    index: new SessionIndex(table, index),
    shards,
    mover: new ShardMover(table, shards),
    sweeper: new Sweeper({ table, inbox: inboxRemoval, removal, shards, marks, collector }),
    hasBlobs: blobs !== undefined,
  });
}

function newBlobs(options: BlobOptions): Blobs {
  const { store, minBytes = BLOBS_FROM_BYTES } = checkBlobOptions(options);
  return new Blobs(store, minBytes);
}
