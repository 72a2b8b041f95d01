import { conformanceTest, type ConformanceTest } from '../run/conformance-test.ts';
import { checkLedgerHarness, type SpendingLedgerHarness } from './ledger-case.ts';
import { spendingLedgerCases } from './spending-ledger-cases.ts';

/**
 * Converts the cases to tests of one ledger. Cases that need a missing ability become skipped tests. With `node:test`
 * (and Vitest):
 *
 * ```ts
 * for (const { name, skip, run } of spendingLedgerTests({ create })) test(name, { skip }, run);
 * ```
 * @throws TypeError or RangeError `ARGUMENT_INVALID` for an unknown member of the harness or an invalid value
 */
export function spendingLedgerTests(harness: SpendingLedgerHarness): readonly ConformanceTest[] {
  const { limitSeconds, create, reopen } = checkLedgerHarness(harness);
  return spendingLedgerCases.map((one) => {
    const skip = one.needs === 'reopen' && reopen === undefined;
    return conformanceTest(one, { skip, limitSeconds }, (run) =>
      one.run(run.creating('create', 'ledger', create), {
        ...(reopen && { reopen: run.creating('reopen', 'ledger', reopen) }),
      }),
    );
  });
}
