import { MemorySpendingLedger } from '@holdfast/core/spending';
import { spendingLedgerTests, type CreateLedger } from '@holdfast/conformance';
import { describe } from 'vitest';
import { testCases } from '../run/test-cases.ts';

describe('MemorySpendingLedger', () => {
  const create: CreateLedger = async (clock) => {
    const ledger = new MemorySpendingLedger({ clock });
    return { ledger, close: () => ledger.close() };
  };

  testCases(spendingLedgerTests({ create }));
});
