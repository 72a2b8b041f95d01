import { MemorySpendingLedger, withSpendingLimit } from '@holdfast/core/spending';
import { driverTests, type CreateDriver } from '@holdfast/conformance';
import { describe } from 'vitest';
import { testCases } from '../run/test-cases.ts';
import { createDriver, scriptedAbilities } from './scripted-provider.ts';

/** A driver with a spending limit passes the cases of the driver that it wraps. */
const create: CreateDriver = async (...args) => {
  const created = await createDriver(...args);
  const ledger = new MemorySpendingLedger();
  const limit = { ledger, owner: 'acme', limits: { day: 1_000 }, upperBound: 0.5 };
  return { ...created, driver: withSpendingLimit(created.driver, limit) };
};

describe('withSpendingLimit(scriptedDriver)', () => {
  testCases(driverTests({ create, ...scriptedAbilities }));
});
