import { MemorySpendingLedger } from '@holdfast/core/spending';
import { spendingLedgerTests, type CreateLedger } from '@holdfast/conformance';
import { describe, test } from 'vitest';

describe('MemorySpendingLedger', () => {
  const create: CreateLedger = async (clock) => {
    const ledger = new MemorySpendingLedger({ clock });
    return { ledger, close: () => ledger.close() };
  };

  // oxlint-disable-next-line vitest/expect-expect -- the cases assert, without a test runner
  test.for(spendingLedgerTests({ create }))('$name', ({ skip, run }, context) => {
    context.skip(skip);
    return run();
  });
});
