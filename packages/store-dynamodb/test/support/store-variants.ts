import { sessionStoreTests, type CreateStore, type StoreFaults } from '@holdfast/conformance';
import type { DynamoDbTableOptions } from '@holdfast/store-dynamodb';
import { describe } from 'vitest';
import { testsOfParts, type CasePart } from '@holdfast/conformance/test';
import { testCases } from '@holdfast/conformance/vitest';
import type { FileBlobs } from './file-blobs.ts';
import { testBlobs } from './test-blobs.ts';
import { testDatabase, type TestDatabase } from './test-database.ts';

/** A higher effort runs the large cases, and all cases with blobs. */
export const EFFORT = Number(process.env['EFFORT'] ?? 1);
/** The largest value of a store without blobs. */
const MAX_VALUE_BYTES = 64 * 1024 * 1024;

/** A store with options, and the cases that it runs. */
export interface Variant {
  readonly name: string;
  /** `maxAttempts` is the number of attempts of the SDK. */
  readonly options: Partial<DynamoDbTableOptions> & { readonly maxAttempts?: number };
  /** Values of at least this many bytes are files in a folder. */
  readonly minBytes?: number;
  /** The cases that this store runs, by their names. Default: all. */
  readonly cases?: RegExp;
  readonly parts?: readonly CasePart[];
}

/** Runs the cases of variants, with one database for all of them. */
export function testVariants(variants: readonly Variant[]): void {
  const database = testDatabase({ hasFaults: true });
  describe.each(variants)('$name', (variant) => {
    testVariant(database, variant);
  });
}

function testVariant(
  database: TestDatabase,
  { options, minBytes, cases = /./u, parts = ['core', 'other', 'large'] }: Variant,
): void {
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
    corrupt: (sessionId, change) => database.corrupt(table, sessionId, change),
    countRows: async () => (await database.countItems(table)) + (await files.keys()).length,
    maxValueBytes: minBytes === undefined ? MAX_VALUE_BYTES : undefined,
    indexedFilters: ['owner'],
    manySessions: EFFORT > 1 ? 10_000 : undefined,
    faults: faultsOf(database),
  });

  testCases(testsOfParts(tests, ...parts).filter(({ name }) => cases.test(name)));
}

/** The proxy exists when a case runs, but not yet when the case is declared. */
function faultsOf(database: TestDatabase): StoreFaults {
  return {
    kinds: ['loseReply', 'cut', 'throttle'],
    arm: (fault, nth) => database.faults.arm(fault, nth),
    disarm: () => database.faults.disarm(),
  };
}
