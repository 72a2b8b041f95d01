import { sessionStoreTests } from '@holdfast/conformance';
import { describe, expect, test } from 'vitest';
import { testCases } from '../run/test-cases.ts';
import { mapHarness } from './map-store.ts';

describe('a store with all abilities', () => {
  const tests = sessionStoreTests(mapHarness());

  testCases(tests);

  test('no case is skipped, and names are unique', () => {
    expect(tests.filter(({ skip }) => skip)).toEqual([]);
    expect(new Set(tests.map(({ name }) => name)).size).toBe(tests.length);
  });
});

test('cases that need a missing ability are skipped, with the ability in their name', () => {
  const skipped = sessionStoreTests({ create: mapHarness().create }).filter(({ skip }) => skip);
  expect(new Set(skipped.map(({ name }) => /\(needs [\w, ]+\)$/.exec(name)?.[0]))).toEqual(
    new Set([
      '(needs reopen)',
      '(needs measure)',
      '(needs remember)',
      '(needs corrupt)',
      '(needs loseReply)',
      '(needs cut)',
      '(needs throttle)',
      '(needs countRows)',
      '(needs countRows, cut)',
      '(needs countRows, loseReply)',
      '(needs maxValueBytes)',
      '(needs measure, indexedFilters)',
    ]),
  );
});
