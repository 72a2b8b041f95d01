import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseDefinition, type DefinitionError } from '@holdfast/definitions';
import { expect, test } from 'vitest';

const path = join(import.meta.dirname, '../../../docs/errors.md');

/** `vitest --update` writes a changed message to the page. */
test('docs/errors.md explains the code of this package, with its message', async () => {
  const errors = await readFile(path, 'utf8');
  const section = /^## `@holdfast\/definitions`$[^]*?(?=^## |$(?![^]))/m.exec(errors)?.[0] ?? '';
  const { code, message } = errorOf('budget:\n  maxStep: 5\nname: editor\n');
  expect([...section.matchAll(/^### `(\w+)`$/gm)].map(([, documented]) => documented)).toEqual([code]);
  const shown = section.replace(/(?<=\n```text\n).*?\n(?=```\n)/s, () => `${message}\n`);
  await expect(errors.replace(section, () => shown)).toMatchFileSnapshot(path);
});

function errorOf(text: string): DefinitionError {
  try {
    parseDefinition(text, { file: 'agents/editor.yaml' });
  } catch (error) {
    return error as DefinitionError;
  }
  throw new Error('The definition was accepted.');
}
