import { spendingLedgerCases } from '@holdfast/conformance';
import { expect, test } from 'vitest';
import { brokenLedgers } from './defects.ts';
import { ledgerHarness, type LedgerParts } from './map-ledger.ts';
import redCases from './red-cases.json' with { type: 'json' };

/** The cases that each ledger with a defect fails, by the name of the defect. */
const expected: Readonly<Record<string, readonly string[]>> = redCases;

async function failuresOf(parts: LedgerParts): Promise<string[]> {
  const failed: string[] = [];
  for (const { group, name, run } of spendingLedgerCases) {
    const { create, ...abilities } = ledgerHarness(parts);
    await run(create, abilities).catch(() => failed.push(`${group}: ${name}`));
  }
  return failed;
}

test('the ledger without a defect passes all cases', async () => {
  await expect(failuresOf({})).resolves.toEqual([]);
});

test.for(Object.entries(brokenLedgers))('a ledger that %s', async ([defect, parts]) => {
  await expect(failuresOf(parts)).resolves.toEqual(expected[defect]);
});

test('every ledger with a defect fails a case', () => {
  expect(Object.keys(expected)).toEqual(Object.keys(brokenLedgers));
  expect(Object.keys(expected).filter((defect) => expected[defect]?.length === 0)).toEqual([]);
});

test('every case is failed by a ledger with a defect', () => {
  const failed = new Set(Object.values(expected).flat());
  const names = spendingLedgerCases.map(({ group, name }) => `${group}: ${name}`);
  expect(names.filter((name) => !failed.has(name))).toEqual([]);
});
