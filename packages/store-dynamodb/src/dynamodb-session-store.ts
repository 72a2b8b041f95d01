import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { systemClock, type Clock } from '@holdfast/core';
import {
  mustBe,
  optionsCheck,
  storeOptionChecks,
  BackedSessionStore,
  type StoreOptions,
} from '@holdfast/core/store';
import { Archives } from './archives/archives.ts';
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
import { openOnTable, TABLE_CHECK, tableChecks } from './table/client.ts';
import type { DynamoDbSender } from './table/requests.ts';
import type { TableOptions } from './table/table-definition.ts';
import { Table } from './table/table.ts';
import { AnnouncedWorkers } from './workers/announced-workers.ts';

/** The options of a table. All processes that share a table must pass the same options. */
export interface DynamoDbTableOptions extends StoreOptions, TableOptions {
  /** The name of the table. Create the table with `tableDefinition`. */
  readonly table: string;
  /**
   * The minimum number of shards of each index: 1 to 100. A new table has 4 shards by default. Each shard takes about
   * 500 claims and releases per second; each list queries all shards.
   *
   * If the table has fewer shards, the store raises their number while the table is in use, and `prune` moves the
   * sessions. While sessions move, `open` rejects a higher number. A store that was created with `new` uses the present
   * number, and raises it after the move.
   */
  readonly shards?: number | undefined;
  /**
   * The minimum number of saves before the store compacts the log of a session. The store also waits until the log has
   * doubled since the last compaction. A compaction writes the whole session again. Default: 200.
   */
  readonly compactAfterSaves?: number | undefined;
  /**
   * The blob store for large values. Without this option, the store writes them to the table. Only stores with this
   * option can load, change and delete sessions that have blobs.
   */
  readonly blobs?: BlobOptions | undefined;
}

/** The options of `new DynamoDbSessionStore`. */
export interface DynamoDbSessionStoreOptions extends DynamoDbTableOptions {
  /** A `DynamoDBClient`, which the caller closes. */
  readonly client: DynamoDbSender;
}

/**
 * The options of `DynamoDbSessionStore.open`. The client reads `credentials`, `endpoint` and `region` from the
 * environment when they are omitted.
 */
export interface OpenDynamoDbOptions
  extends DynamoDbTableOptions, Pick<DynamoDBClientConfig, 'credentials' | 'endpoint' | 'region'> {}

const checks = tableChecks<DynamoDbTableOptions>(
  'DynamoDbSessionStore',
  {
    ...storeOptionChecks,
    ...TABLE_CHECK,
    isActivityListed: mustBe.boolean,
    shards: mustBe.wholeNumber(1, MAX_SHARDS),
    compactAfterSaves: mustBe.wholeNumber(1),
    blobs: mustBe.object,
  },
  {
    ttl: 'set "expiry", as in expiry: { afterSeconds: 3600 }',
    region: 'pass it to the client, as in client: new DynamoDBClient({ region })',
    bucket: 'set "blobs", as in blobs: { store: bucket }',
  },
);

const checkBlobOptions = optionsCheck<BlobOptions>('blobs', {
  store: mustBe.required(
    mustBe.objectWith('an object with put(), get() and delete()', ['put', 'get', 'delete']),
  ),
  minBytes: mustBe.wholeNumber(1, MAX_VALUE_BYTES),
});

/** The default of `minBytes`: a quarter of the bytes that a DynamoDB partition accepts per second. */
const BLOBS_FROM_BYTES = 256 * 1024;

/**
 * Stores sessions in a DynamoDB table. Any number of processes in one region can share the table.
 *
 * @example
 * const store = new DynamoDbSessionStore({ client: new DynamoDBClient({}), table: 'sessions' });
 */
export class DynamoDbSessionStore extends BackedSessionStore {
  private readonly shards: Shards;

  /** @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or an invalid value */
  constructor(options: DynamoDbSessionStoreOptions) {
    const { clock, expiry, maxInboxItems, keptRevisions } = checks.ofNew(options);
    const { backend, shards } = newBackend(options);
    super(backend, { clock, expiry, maxInboxItems, keptRevisions });
    this.shards = shards;
  }

  /**
   * Creates a store and its client. `close` destroys the client.
   * @throws StoreUnavailableError `STORE_UNAVAILABLE` when no server replies, or the table does not exist
   * @throws StateFormatError `STATE_FORMAT` when the table has another layout, `STATE_VERSION` when its layout is newer
   * @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or an invalid value, or for a higher
   * number of `shards` while sessions move
   */
  static open(options: OpenDynamoDbOptions): Promise<DynamoDbSessionStore> {
    return openOnTable(checks, options, async (given) => {
      const store = new DynamoDbSessionStore(given);
      await store.shards.checkRaise();
      return store;
    });
  }
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
  const readHeader = (pk: string): ReturnType<SessionLoader['readHeader']> => loader.readHeader(pk);
  const inbox = new Inbox({ table, readHeader, marks, blobs });
  const archives = new Archives({ table, readHeader });
  const inboxRemoval = new InboxRemoval({ table, blobs, clock });
  const removal = new IncarnationRemoval({ table, inbox: inboxRemoval, archives, marks, blobs: noted });
  const blobsFromBytes = blobs?.minBytes;
  const staging = new Staging({ loader, inbox, archives, marks, compactAfterSaves, blobsFromBytes });
  const collector = noted && new BlobCollector({ table, loader, blobs: noted, index });
  return new DynamoDbBackend({
    loader,
    writes: new SessionWrites({
      table,
      loader,
      staging,
      inbox: inboxRemoval,
      archives,
      removal,
      blobs: noted,
      index,
    }),
    removal,
    inbox,
    archives,
    index: new SessionIndex(table, index),
    shards,
    mover: new ShardMover(table, shards),
    sweeper: new Sweeper({ table, inbox: inboxRemoval, removal, shards, marks, collector }),
    workers: new AnnouncedWorkers(table),
    close: () => table.close(),
    hasBlobs: blobs !== undefined,
  });
}

function newBlobs(options: BlobOptions): Blobs {
  const { store, minBytes = BLOBS_FROM_BYTES } = checkBlobOptions(options);
  return new Blobs(store, minBytes);
}
