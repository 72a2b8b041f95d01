import { MemorySpendingLedger, withSpendingLimit } from '@holdfast/core/spending';
import { driverTests, type CreateDriver } from '@holdfast/conformance';
import { describe, test } from 'vitest';
import { createDriver, scriptedAbilities } from './scripted-provider.ts';

/** A driver with a spending limit passes the cases of the driver that it wraps. */
const create: CreateDriver = async (...args) => {
  const created = await createDriver(...args);
  const ledger = new MemorySpendingLedger();
  const limit = { ledger, owner: 'acme', limits: { day: 1_000 }, upperBound: 0.5 };
  return { ...created, driver: withSpendingLimit(created.driver, limit) };
};

describe('withSpendingLimit(scriptedDriver)', () => {
  // oxlint-disable-next-line vitest/expect-expect -- the cases assert, without a test runner
  test.for(driverTests({ create, ...scriptedAbilities }))('$name', ({ skip, run }, context) => {
    context.skip(skip);
    return run();
  });
});
