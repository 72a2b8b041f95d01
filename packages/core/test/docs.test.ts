import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ERROR_CODES } from '@holdfast/core/engine';

const errors = readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8');
/** The codes of core; those of other packages follow in sections of their own. */
const documented = [...(errors.split('\n## ')[0] ?? '').matchAll(/^\| `(\w+)` \|/gm)];

test('docs/errors.md explains exactly the error codes of core', () => {
  expect(new Set(documented.map(([, code]) => code))).toEqual(new Set(ERROR_CODES));
});
