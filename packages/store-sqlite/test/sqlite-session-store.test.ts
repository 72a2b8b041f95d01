import { DatabaseSync } from 'node:sqlite';
import { SqliteSessionStore } from '@holdfast/store-sqlite';
import { sessionStoreTests } from '@holdfast/conformance';
import type { CreateStore } from '@holdfast/conformance';
import { afterEach, describe, test } from 'vitest';
import { temporaryFolders } from './temporary-folders.ts';
import { Wire } from './wire.ts';

const { newFile } = temporaryFolders();
const opened: { close(): unknown }[] = [];
const wire = new Wire();
let path = ':memory:';

afterEach(async () => {
  for (const thing of opened.splice(0).toReversed()) await thing.close();
});

const reopen: CreateStore = async (clock, settings) => {
  const store = await SqliteSessionStore.open({ path, clock, ...settings });
  opened.push(store);
  return store;
};

const inFile: CreateStore = (clock, settings) => {
  path = newFile();
  return reopen(clock, settings);
};

const inMemory: CreateStore = (clock, settings) => {
  path = ':memory:';
  return reopen(clock, settings);
};

const throughWire: CreateStore = async (clock, settings) => {
  const database = new DatabaseSync(newFile());
  opened.push(database);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF');
  return new SqliteSessionStore({ database: wire.to(database), clock, ...settings });
};

const isOfWire = ({ name }: { readonly name: string }): boolean => /^(costs|faults):/u.test(name);
const ofWire = sessionStoreTests(throughWire, { measure: wire.measure, faults: wire }).filter(isOfWire);

describe.each([
  { where: 'in a file', tests: sessionStoreTests(inFile, { reopen }).filter((one) => !isOfWire(one)) },
  { where: 'in memory', tests: sessionStoreTests(inMemory).filter((one) => !isOfWire(one)) },
  { where: 'in a file, statement by statement', tests: ofWire },
])('SqliteSessionStore $where', ({ tests }) => {
  // oxlint-disable-next-line vitest/expect-expect -- the cases assert, without a test runner
  test.for(tests)('$name', ({ skip, run }, context) => {
    context.skip(skip);
    return run();
  });
});
