import { firstRed, plantedDefects } from '@holdfast/conformance/test';
import type { CreateStore, StoreFaults } from '@holdfast/conformance';
import { expect, test } from 'vitest';
import { testDatabase } from './support/test-database.ts';

const database = testDatabase({ hasFaults: true });
let table: string;

/** A client that repeats no request passes each fault on to the store, and so to the defect. */
const reopen: CreateStore = async (clock, settings) => {
  const store = await database.newStore({ table, maxAttempts: 1, clock, ...settings });
  return { store, close: () => store.close() };
};
const create: CreateStore = async (clock, settings) => {
  table = await database.newTable();
  return reopen(clock, settings);
};

/** The proxy exists when a case runs, but not yet when the case is declared. */
const faults: StoreFaults = {
  kinds: ['loseReply', 'cut', 'throttle'],
  arm: (fault, nth) => database.faults.arm(fault, nth),
  disarm: () => database.faults.disarm(),
};
const measure = () => database.faults.measure();
const remember = () => database.remember(table);

const HIDDEN = {
  'reports every failed write as ambiguous':
    'The backend repeats a throttled request, so this wrapper sees no error.',
};

test.for(plantedDefects({ create, reopen, measure, remember, faults, limitSeconds: 240 }, HIDDEN))(
  'the cases find a store on DynamoDB that $name',
  async (defect) => {
    await expect(firstRed(defect)).resolves.toBeDefined();
  },
);
