import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { List } from '@holdfast/core/driver';
import { cases } from '../../../../../tools/config/vitest.properties.ts';
import { expectDeeplyFrozen } from '../../support/arbitraries.ts';

const runs = cases(200);
const SIZES = [
  0, 1, 31, 32, 33, 63, 64, 65, 1023, 1024, 1025, 1055, 1056, 1057, 32_767, 32_768, 32_769, 40_000,
];

const numbers = (length: number, start = 0): number[] => Array.from({ length }, (_, index) => start + index);

/** The tree's nodes and chunks: what could be shared. */
function nodesOf(value: unknown, found = new Set<object>()): Set<object> {
  if (typeof value !== 'object' || value === null || found.has(value)) return found;
  if (Array.isArray(value) || value instanceof List) found.add(value);
  for (const key of Reflect.ownKeys(value)) nodesOf((value as Record<PropertyKey, unknown>)[key], found);
  return found;
}

/** How many nodes of `after` are not in `before`. */
function newNodes(before: List<number>, after: List<number>): number {
  const old = nodesOf(before);
  return [...nodesOf(after)].filter((node) => !old.has(node)).length;
}

test.for(SIZES)('a list of %i has the elements of its array', (size) => {
  const array = numbers(size);
  const list = List.from(array);
  expect(list.length).toBe(size);
  expect(list.isEmpty).toBe(size === 0);
  assert.deepStrictEqual([...list], array);
  assert.deepStrictEqual(list.toArray(), array);
  assert.deepStrictEqual(JSON.parse(JSON.stringify(list)), array);
  assert.deepStrictEqual(list.slice(), array);
  expect(list.last).toBe(array.at(-1));
  for (const index of [
    0,
    1,
    30,
    31,
    32,
    33,
    1023,
    1024,
    size - 33,
    size - 1,
    size,
    size + 1,
    -1,
    -32,
    -33,
    -size,
    -size - 1,
  ]) {
    expect(list.at(index)).toBe(array.at(index));
    assert.deepStrictEqual(list.slice(index, index + 40), array.slice(index, index + 40));
    assert.deepStrictEqual(list.slice(index), array.slice(index));
    assert.deepStrictEqual(list.slice(0, index), array.slice(0, index));
  }
});

test.for(SIZES)('a list of %i has the same structure however it was built', (size) => {
  const array = numbers(size);
  const atOnce = List.from(array);
  let oneByOne = List.empty<number>();
  for (const element of array) oneByOne = oneByOne.append(element);
  const third = Math.floor(size / 3);
  const inParts = List.from(array.slice(0, third))
    .concat(array.slice(third, 2 * third))
    .append(...array.slice(2 * third));
  for (const list of [oneByOne, inParts]) {
    assert.deepStrictEqual(list, atOnce);
  }
  if (size > 0) assert.notDeepStrictEqual(List.from([...array.slice(0, -1), -1]), atOnce);
  assert.notDeepStrictEqual(atOnce.append(0), atOnce);
});

test.for(SIZES)('a list of %i is deeply frozen', (size) => {
  expect(() => expectDeeplyFrozen(List.from(numbers(size)))).not.toThrow();
});

test('random operations on many versions agree with arrays and change no older version', () => {
  const work = fc.record({
    on: fc.nat(),
    count: fc.oneof(fc.nat(3), fc.nat(40), fc.constantFrom(31, 32, 33, 992, 1024)),
  });
  fc.assert(
    fc.property(fc.array(work, { maxLength: 25 }), (works) => {
      const versions: { list: List<number>; model: readonly number[] }[] = [
        { list: List.empty(), model: [] },
      ];
      let next = 0;
      for (const { on, count } of works) {
        const { list, model } = versions[on % versions.length] as (typeof versions)[number];
        const added = numbers(count, (next += count));
        versions.push({ list: list.concat(added), model: [...model, ...added] });
      }
      for (const { list, model } of versions) assert.deepStrictEqual(list.toArray(), model);
      const pairs = versions.slice(-6);
      for (const one of pairs) {
        for (const other of pairs) {
          const end = one.model.findIndex((element, index) => element !== other.model[index]);
          const common = end < 0 ? one.model.length : end;
          expect(one.list.commonLength(other.list)).toBe(common);
          const since = common === other.model.length ? one.model.slice(common) : undefined;
          assert.deepStrictEqual(one.list.since(other.list), since);
        }
      }
    }),
    runs,
  );
});

test('`toEqual` distinguishes equal and unequal lists', () => {
  expect(List.from(numbers(1_057))).toEqual(List.from(numbers(1_000)).concat(numbers(57, 1_000)));
  expect(List.from(numbers(1_057))).not.toEqual(List.from(numbers(1_056)).append(0));
});

test('slices agree with those of an array, negative ends included', () => {
  const index = fc.integer({ min: -1100, max: 1100 });
  const list = List.from(numbers(1057));
  fc.assert(
    fc.property(index, index, (from, to) => {
      assert.deepStrictEqual(list.slice(from, to), list.toArray().slice(from, to));
      expect(list.at(from)).toBe(list.toArray().at(from));
    }),
    runs,
  );
});

describe('sharing', () => {
  test.for(SIZES)('appending to a list of %i creates a bounded number of nodes', (size) => {
    const list = List.from(numbers(size));
    expect(newNodes(list, list.append(-1))).toBeLessThanOrEqual(6);
  });

  test('appending copies the same amount for every length of the list', () => {
    const copied = (size: number): number => {
      let [list, slots] = [List.from(numbers(size)), 0];
      for (let step = 0; step < 32; step++) {
        const after = list.append(step);
        const old = nodesOf(list);
        for (const node of nodesOf(after)) if (!old.has(node) && Array.isArray(node)) slots += node.length;
        list = after;
      }
      return slots;
    };
    expect(copied(30_000)).toBeLessThan(copied(64) + 4 * 32);
  });

  test.for(SIZES)('two branches of a list of %i share its elements', (size) => {
    const trunk = List.from(numbers(size));
    const [left, right] = [trunk.append(-1), trunk.append(-2)];
    expect(newNodes(left, right)).toBeLessThanOrEqual(6);
    expect([left.at(-1), right.at(-1)]).toEqual([-1, -2]);
    expect(left.commonLength(right)).toBe(size);
    expect(left.since(right)).toBeUndefined();
  });

  test.for(SIZES)('since returns the elements appended to a list of %i, for every length', (size) => {
    const trunk = List.from(numbers(size));
    for (const count of [0, 1, 33, 1_024]) {
      const grown = trunk.concat(numbers(count, -count));
      expect([grown.commonLength(trunk), trunk.commonLength(grown)]).toEqual([size, size]);
      assert.deepStrictEqual(grown.since(trunk), numbers(count, -count));
    }
  });

  test('appending no elements, and creating a list from a list, return the same list', () => {
    const list = List.from(numbers(40));
    expect(list.concat([])).toBe(list);
    expect(list.append()).toBe(list);
    expect(List.from(list)).toBe(list);
    expect(List.from([])).toBe(List.empty());
  });

  test('map, filter and find agree with those of arrays', () => {
    for (const size of SIZES) {
      const [list, array] = [List.from(numbers(size)), numbers(size)];
      expect(list.map((element, index) => element * 10 + index)).toEqual(
        array.map((element, index) => element * 10 + index),
      );
      expect(list.filter((element) => element % 3 === 0)).toEqual(
        array.filter((element) => element % 3 === 0),
      );
      for (const wanted of [0, 33, size - 1, size]) {
        expect(list.find((element) => element === wanted)).toBe(array.find((element) => element === wanted));
      }
    }
  });

  test('later changes of an array do not affect the list', () => {
    const source = [1, 2];
    const list = List.from(source);
    source.push(3);
    list.toArray().push(4);
    assert.deepStrictEqual([...list], [1, 2]);
  });

  test('commonLength compares by identity', () => {
    const [a, b] = [List.from([{ x: 1 }]), List.from([{ x: 1 }])];
    expect(a.commonLength(b)).toBe(0);
    expect(a.since(b)).toBeUndefined();
    assert.deepStrictEqual(a.since(List.empty()), [{ x: 1 }]);
    expect(List.empty<object>().since(a)).toBeUndefined();
  });

  test.for(SIZES)('lists of %i that were built separately have identical elements in common', (size) => {
    const list = List.from(numbers(size));
    expect(list.commonLength(List.from(numbers(size)))).toBe(size);
    for (const at of [0, 31, 32, 1_023, 1_024, size - 1].filter((index) => index >= 0 && index < size)) {
      expect(list.commonLength(List.from(numbers(size).with(at, -1)))).toBe(at);
    }
  });

  test('an element that is undefined is an element', () => {
    const list = List.from([1, undefined]);
    expect(list.commonLength(List.from<number | undefined>([1]))).toBe(1);
  });
});
