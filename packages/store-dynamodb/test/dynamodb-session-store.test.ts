import type { CreateStore, StoreAbilities } from '@holdfast/conformance';
import { sessionStoreTests } from '@holdfast/conformance';
import type { DynamoDbTableOptions } from '@holdfast/store-dynamodb';
import { describe, test } from 'vitest';
import { ProxiedFaults } from './proxied-faults.ts';
import { testDatabase } from './test-database.ts';

const database = testDatabase();
const faults = new ProxiedFaults(() => database.proxy);

interface Variant {
  readonly name: string;
  /** `maxAttempts` are those of the SDK. */
  readonly options: Partial<DynamoDbTableOptions> & { readonly maxAttempts?: number };
  /** The groups of cases in which it differs. */
  readonly groups: RegExp;
}

const VARIANTS: readonly Variant[] = [
  { name: 'DynamoDbSessionStore', options: {}, groups: /./u },
  { name: 'with a client that tries once', options: { maxAttempts: 1 }, groups: /^faults:/u },
  {
    name: 'with a log that is written anew at each save, and one shard',
    options: { compactAfter: 1, shards: 1 },
    groups: /^(?:writes|replays|changes|claims|fencing|inbox|due|lists|reopening):/u,
  },
];

describe.each(VARIANTS)('$name', { timeout: 60_000 }, ({ options, groups }) => {
  let table: string;
  const createStore: CreateStore = async (clock, settings) => {
    table = await database.newTable();
    return database.newStore({ ...options, table, clock, ...settings });
  };
  const abilities: StoreAbilities = {
    reopen: (clock, settings) => database.newStore({ ...options, table, clock, ...settings }),
    measure: faults.measure,
    faults,
  };
  const tests = sessionStoreTests(createStore, abilities).filter(({ name }) => groups.test(name));

  // oxlint-disable-next-line vitest/expect-expect -- the cases assert, without a test runner
  test.for(tests)('$name', ({ skip, run }, context) => {
    context.skip(skip);
    return run();
  });
});
