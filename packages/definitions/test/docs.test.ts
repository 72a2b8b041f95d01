import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DefinitionError } from '@holdfast/definitions';
import { expect, test } from 'vitest';

const packageFolder = join(import.meta.dirname, '..');

test('docs/errors.md explains the code of this package', async () => {
  const errors = await readFile(join(packageFolder, '../../docs/errors.md'), 'utf8');
  const section = /^## `@holdfast\/definitions`$([^]*?)(?=^## |$(?![^]))/m.exec(errors)?.[1] ?? '';
  const codes = [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, code]) => code);
  expect(codes).toEqual([new DefinitionError([]).code]);
});
