import type { ConformanceTest } from '@holdfast/conformance';

/** The cases with many sessions, items or messages, with large values, or with many writers at once. */
export const LARGE_CASES =
  /^costs:|^sizes:|5,000 messages|nesting 1,000 deep|8 writers|every change after|large inbox|more than a hundred items/u;

const CORE_GROUPS = /^(?:writes|replays|claims|fencing|inbox|lists):/u;

/** Returns the cases that a change of a store breaks first, without those that take long. */
export function coreOf(tests: readonly ConformanceTest[]): readonly ConformanceTest[] {
  return tests.filter(({ name }) => CORE_GROUPS.test(name) && !LARGE_CASES.test(name));
}

/** Returns the other cases. */
export function restOf(tests: readonly ConformanceTest[]): readonly ConformanceTest[] {
  const core = new Set(coreOf(tests));
  return tests.filter((one) => !core.has(one));
}
