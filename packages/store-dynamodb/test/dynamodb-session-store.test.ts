import type { CreateStore, StoreFaults } from '@holdfast/conformance';
import { sessionStoreTests } from '@holdfast/conformance';
import type { DynamoDbTableOptions } from '@holdfast/store-dynamodb';
import { describe, test } from 'vitest';
import type { FileBlobs } from './support/file-blobs.ts';
import { testBlobs } from './support/test-blobs.ts';
import { testDatabase } from './support/test-database.ts';

const database = testDatabase({ hasFaults: true });
/** A higher effort runs all cases with blobs too. */
const EFFORT = Number(process.env['EFFORT'] ?? 1);
/** The largest value of a store without blobs. */
const MAX_VALUE_BYTES = 64 * 1024 * 1024;
/** The proxy exists when a case runs, but not yet when the case is declared. */
const faults: StoreFaults = {
  kinds: ['loseReply', 'cut', 'throttle'],
  arm: (fault, nth) => database.faults.arm(fault, nth),
  disarm: () => database.faults.disarm(),
};

interface Variant {
  readonly name: string;
  /** `maxAttempts` is the number of attempts of the SDK. */
  readonly options: Partial<DynamoDbTableOptions> & { readonly maxAttempts?: number };
  /** Values of at least this many bytes are files in a folder. */
  readonly minBytes?: number;
  /** The groups of cases in which this store differs. */
  readonly groups: RegExp;
}

const VARIANTS: readonly Variant[] = [
  {
    name: 'DynamoDbSessionStore',
    options: {},
    // A value of the largest size takes seconds.
    groups: EFFORT > 1 ? /./u : /^(?!sizes: a \w+ of the largest)/u,
  },
  { name: 'with a client that does not retry', options: { maxAttempts: 1 }, groups: /^faults:/u },
  {
    name: 'with a compaction at each save, and one shard',
    options: { compactAfterSaves: 1, shards: 1 },
    // The inbox meets such a log below, 8 writers meet one in races.test.ts.
    groups: /^(?:writes: (?!8 )|replays:|changes:|claims:|fencing:|due:|lists:|reopening:)/u,
  },
  {
    name: 'with nearly all values as blobs',
    options: {},
    minBytes: 100,
    groups:
      EFFORT > 1
        ? /./u
        : /^(?:writes: (?!8 )|replays:|values:|fencing:|expiry:|reopening:|rows:|faults: (?!list|.* throttled))/u,
  },
  {
    name: 'with nearly all values as blobs, and a compaction at each save',
    options: { compactAfterSaves: 1 },
    minBytes: 100,
    groups: EFFORT > 1 ? /^(?!costs:)/u : /^(?:changes: (?!5,000|every)|inbox:|history:)/u,
  },
];

describe.each(VARIANTS)('$name', { timeout: 240_000 }, ({ options, minBytes, groups }) => {
  let table: string;
  let files: FileBlobs;
  const reopen: CreateStore = async (clock, settings) => {
    const blobs = minBytes === undefined ? undefined : { store: files, minBytes };
    const store = await database.newStore({ ...options, table, blobs, clock, ...settings });
    return { store, close: () => store.close() };
  };
  const create: CreateStore = async (clock, settings) => {
    table = await database.newTable();
    files = testBlobs().blobs;
    return reopen(clock, settings);
  };
  const tests = sessionStoreTests({
    create,
    limitSeconds: 240,
    reopen,
    measure: () => database.faults.measure(),
    remember: () => database.remember(table),
    countRows: async () => (await database.countItems(table)) + (await files.keys()).length,
    maxValueBytes: minBytes === undefined ? MAX_VALUE_BYTES : undefined,
    indexedFilters: ['owner'],
    manySessions: EFFORT > 1 ? 10_000 : undefined,
    faults,
  }).filter(({ name }) => groups.test(name));

  // oxlint-disable-next-line vitest/expect-expect -- the cases assert, without a test runner
  test.for(tests)('$name', ({ skip, run }, context) => {
    context.skip(skip);
    return run();
  });
});
