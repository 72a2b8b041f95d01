import { engineTests, type ConformanceTest, type EngineHarness } from '@holdfast/conformance';
import { expect, test } from 'vitest';
import type { RedCases } from './red-cases.ts';

/** Creates a test for each case. The test of a case that needs a missing ability is skipped. */
export function testCases(tests: readonly ConformanceTest[]): void {
  // oxlint-disable-next-line vitest/expect-expect -- the cases assert, without a test runner
  test.for(tests)('$name', ({ skip, run }, context) => {
    context.skip(skip);
    return run();
  });
}

/** Creates tests of the cases of an engine that run at the same time. Each case has a harness of its own. */
export function testCasesApart(
  newHarness: () => EngineHarness,
  isIncluded: (name: string) => boolean = () => true,
): void {
  const tests = engineTests(newHarness()).filter(({ name, skip }) => !skip && isIncluded(name));
  // oxlint-disable-next-line vitest/expect-expect -- the cases assert, without a test runner
  test.concurrent.for(tests)('$name', ({ name }) => {
    const found = engineTests(newHarness()).find((one) => one.name === name);
    return found === undefined ? Promise.reject(new Error(`No case "${name}".`)) : found.run();
  });
}

/** Creates the tests that no defect passes all cases, and that a defect fails each case. */
export function testRedCases(
  what: string,
  expected: RedCases,
  defects: readonly string[],
  names: readonly string[],
): void {
  test(`every ${what} with a defect fails a case`, () => {
    expect(Object.keys(expected)).toEqual(defects);
    expect(defects.filter((defect) => expected[defect]?.length === 0)).toEqual([]);
  });

  test(`every case is failed by a ${what} with a defect`, () => {
    const failed = new Set(Object.values(expected).flat());
    expect(names.filter((name) => !failed.has(name))).toEqual([]);
    expect([...failed].filter((name) => !names.includes(name))).toEqual([]);
  });
}
