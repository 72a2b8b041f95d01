import { engineCases } from '@holdfast/conformance';
import { describe, expect, test } from 'vitest';
import { brokenEngine, type Defect } from './engine-parts.ts';
import { defects } from './defects.ts';
import redCases from './red-cases.json' with { type: 'json' };

/**
 * The cases that each engine with a defect fails, by the name of the defect. It is maintained by hand: add the lines of
 * a new case.
 */
const expected: Readonly<Record<string, readonly string[]>> = redCases;

/** The cases of one engine in one process. */
const cases = engineCases.filter(({ needs }) => needs === undefined || needs === 'clock');

/** Returns the names of the cases that an engine with this defect fails. */
async function failuresOf(defect: Defect): Promise<string[]> {
  const failed: string[] = [];
  for (const { group, name, run } of cases)
    await run(brokenEngine(defect), { clock: true }).catch(() => failed.push(`${group}: ${name}`));
  return failed;
}

describe('an engine that', () => {
  test.for(Object.entries(defects))('%s', { timeout: 60_000 }, async ([name, defect]) => {
    expect(await failuresOf(defect)).toEqual(expected[name]);
  });
});

test('an engine without a defect fails no case', async () => {
  expect(await failuresOf(() => ({}))).toEqual([]);
});

test('every engine with a defect fails a case', () => {
  expect(Object.keys(expected)).toEqual(Object.keys(defects));
  expect(Object.values(expected).filter((names) => names.length === 0)).toEqual([]);
});

test('every case is failed by an engine with a defect', () => {
  const names = cases.map(({ group, name }) => `${group}: ${name}`);
  const failed = new Set(Object.values(expected).flat());
  expect(names.filter((name) => !failed.has(name))).toEqual([]);
  expect([...failed].filter((name) => !names.includes(name))).toEqual([]);
});
