import { expect, test } from 'vitest';
import { entryName, incarnationOfEntry } from '../../src/log/entry-keys.ts';
import { partKeys } from '../../src/table/parts.ts';

test('the keys of parts contain the incarnation', () => {
  const incarnation = 'an#odd#one';
  const name = entryName(3, 14, 'id', 2);
  const keys = partKeys(`E#${incarnation}#`, name);
  expect(keys).toEqual(['E#an#odd#one#000003#000014#id#2#0000', 'E#an#odd#one#000003#000014#id#2#0001']);
  expect(keys.map(incarnationOfEntry)).toEqual([incarnation, incarnation]);
});
