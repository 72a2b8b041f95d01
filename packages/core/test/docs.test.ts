import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ERROR_CODES } from '@holdfast/core';

const documented = [
  ...readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8').matchAll(/^\| `(\w+)` \|/gm),
];

test('docs/errors.md explains every error code, and no other', () => {
  expect(new Set(documented.map(([, code]) => code))).toEqual(new Set(ERROR_CODES));
});
