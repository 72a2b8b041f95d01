import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { README, withTable } from '../src/table.ts';

test('the table in the README of the driver is current (`pnpm --filter providers run write`)', () => {
  const text = readFileSync(README, 'utf8');
  expect(text).toBe(withTable(text));
});

test('a text without markers is refused', () => {
  expect(() => withTable('# A page')).toThrow('The markers of the table are missing.');
});
