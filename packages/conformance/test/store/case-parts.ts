import type { ConformanceTest } from '@holdfast/conformance';

/** The cases that take the most time in any store. */
export const DEAR_CASES =
  /^costs:|5,000 messages|nesting 1,000 deep|8 writers|every change after|a large inbox/u;

/** The cases that take long in a database: many items, large values and unusual ids. */
const LARGE_CASES =
  /^sizes:|more than a hundred items|of 20 items|the reserve of a full inbox|any text|special characters/u;

/** The groups that a change of a store breaks first. */
const CORE_GROUPS = /^(?:writes|replays|claims|fencing|inbox):/u;

/** A part of the cases of a store that has a test file of its own. */
export type CasePart = 'core' | 'other' | 'large';

/** Returns the tests of some parts. */
export function testsOfParts(
  tests: readonly ConformanceTest[],
  ...parts: readonly CasePart[]
): readonly ConformanceTest[] {
  return tests.filter(({ name }) => parts.includes(partOf(name)));
}

function partOf(name: string): CasePart {
  if (DEAR_CASES.test(name) || LARGE_CASES.test(name)) return 'large';
  return CORE_GROUPS.test(name) ? 'core' : 'other';
}
