import { expect, test } from 'vitest';
import {
  archiveEntryName,
  archivePrefix,
  entryNameIn,
  entryPrefix,
} from '../../src/archives/archive-keys.ts';
import { partKeys } from '../../src/table/parts.ts';

const KEY = { incarnation: 'x', archive: 'revisions' };
const rowOf = (key: typeof KEY, position: number): string => {
  const [sk = ''] = partKeys(archivePrefix(key), archiveEntryName({ position, unique: 'u', parts: 1 }));
  return sk;
};

test('the rows of an archive sort by position', () => {
  const positions = [0, 9, 10, 99, 100, 12_345, Number.MAX_SAFE_INTEGER];
  const rows = positions.map((position) => rowOf(KEY, position));
  expect(rows.toSorted()).toEqual(rows);
  for (const [index, position] of positions.entries()) {
    const prefix = entryPrefix(KEY, position);
    expect(rows.filter((row) => row < prefix)).toEqual(rows.slice(0, index));
    expect(entryNameIn(archivePrefix(KEY), rows[index] ?? '')).toEqual({ position, unique: 'u', parts: 1 });
  }
});

test('a row of an incarnation whose name begins with that of an archive is no row of the archive', () => {
  const nested = rowOf({ incarnation: `${archivePrefix(KEY).slice(2)}0000000000000001`, archive: 'a' }, 1);
  expect(nested.startsWith(archivePrefix(KEY))).toBe(true);
  expect(entryNameIn(archivePrefix(KEY), nested)).toBeUndefined();
});
