import { spendingLedgerCases } from '@holdfast/conformance';
import { expect, test } from 'vitest';
import { nameOf } from '../../run/red-cases.ts';
import { testRedCases } from '../../run/test-cases.ts';
import { brokenLedgers } from './defects.ts';
import { ledgerHarness, type LedgerParts } from './map-ledger.ts';
import redCases from './red-cases.json' with { type: 'json' };

/** The cases that each ledger with a defect fails, by the name of the defect. */
const expected: Readonly<Record<string, readonly string[]>> = redCases;

async function failuresOf(parts: LedgerParts): Promise<string[]> {
  const failed: string[] = [];
  for (const one of spendingLedgerCases) {
    const { create, ...abilities } = ledgerHarness(parts);
    await one.run(create, abilities).catch(() => failed.push(nameOf(one)));
  }
  return failed;
}

test('the ledger without a defect passes all cases', async () => {
  await expect(failuresOf({})).resolves.toEqual([]);
});

test.for(Object.entries(brokenLedgers))('a ledger that %s', async ([defect, parts]) => {
  await expect(failuresOf(parts)).resolves.toEqual(expected[defect]);
});

testRedCases('ledger', expected, Object.keys(brokenLedgers), spendingLedgerCases.map(nameOf));
