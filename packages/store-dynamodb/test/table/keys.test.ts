import { expect, test } from 'vitest';
import { instantKey, orderKey, ownerKey, partitionOf } from '../../src/table/keys.ts';

test('keys of instants sort in their order, also before 1970', () => {
  const { MAX_SAFE_INTEGER: most } = Number;
  const moments = [-most, -1e15, -2, -1, 0, 1, 999, 1e12, 1_798_761_600_000, most];
  const keys = moments.map(instantKey);
  expect(keys.toSorted()).toEqual(keys);
  expect(new Set(keys.map((key) => key.length))).toEqual(new Set([17]));
  for (const key of [Number.POSITIVE_INFINITY, 1e300]) expect(instantKey(key)).toBe(instantKey(most));
});

test('ids sort by code point, in ASCII', () => {
  const ids = ['', '\0', ' ', 'a', 'a\0', 'aa', 'b', '~', '\u007f', '\u0080', 'é', '\ue000', '\uffee', '🦊'];
  const keys = ids.map((id) => orderKey(0, id));
  expect(keys.toSorted()).toEqual(keys);
  expect(keys.join('')).toMatch(/^[\0-\u007f]*$/u);
});

test('no owner makes a key too long, and owners have keys of their own', () => {
  const owners = [
    'o'.repeat(1_000),
    `${'o'.repeat(999)}p`,
    '\uffee'.repeat(1_000),
    '🦊'.repeat(16),
    '\0',
    'O#o',
    'o',
  ];
  const keys = owners.map(ownerKey);
  expect(new Set(keys).size).toBe(owners.length);
  for (const key of keys) expect(Buffer.byteLength(key)).toBeLessThanOrEqual(66);
});

test('no id makes a key too long, and no two ids share a partition', () => {
  const ids = ['x'.repeat(1_000), `${'x'.repeat(999)}y`, '\uffee'.repeat(1_000), 'x', 'H#x', 'S#x'];
  for (const id of ids) {
    expect(Buffer.byteLength(partitionOf(id))).toBeLessThanOrEqual(1_024);
    expect(Buffer.byteLength(orderKey(0, id))).toBeLessThanOrEqual(128);
  }
  expect(new Set(ids.map(partitionOf)).size).toBe(ids.length);
});
