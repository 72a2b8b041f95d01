import { expect, test } from 'vitest';
import { isNoted } from '../../src/differences.ts';
import { differencesBetween } from '../../src/runs/json-paths.ts';

test.each([
  [{ a: 1 }, { a: 1 }, []],
  [{ a: 1, b: undefined }, { a: 1 }, []],
  [{ a: [1, { b: 2 }] }, { a: [1, { b: 3 }] }, ['a[1].b']],
  [{ a: [1] }, { a: [1, 2] }, ['a[1]']],
  [{ a: [] }, { a: {} }, ['a']],
  [{ a: { b: 1, c: 2 } }, { a: { c: 2, b: 1 } }, ['a (order)']],
  [{ a: { b: 1, c: 2 } }, { a: { d: 0, b: 1, c: 2 } }, ['a.d']],
])('%j and %j differ at %j', (sdk, held, paths) => {
  expect(differencesBetween(sdk, held).map(({ path }) => path)).toEqual(paths);
});

test.each([
  ['requests[1].body.input[3].output', 'requests[1].body.input[*].output', true],
  ['requests[2].body.input[3].output', 'requests[1].body.input[*].output', false],
  ['requests[1].body.input[3].id', 'requests[1].body.input[*].output', false],
  ['requests[1].body.input[3].output[0]', 'requests[1].body.input[*].output', false],
])('the path %s fits %s: %s', (path, pattern, expected) => {
  const reason = { number: 1, text: 'For a test.' };
  expect(isNoted(path, { providers: 'all', scenario: 'all', path: pattern, reason })).toBe(expected);
});
