import { sessionStoreTests } from '@holdfast/conformance';
import { describe, expect, test } from 'vitest';
import { mapHarness } from './map-store.ts';

describe('a store with all abilities', () => {
  const tests = sessionStoreTests(mapHarness());

  // oxlint-disable-next-line vitest/expect-expect -- the cases assert, without a test runner
  test.for(tests)('$name', ({ run }) => run());

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
