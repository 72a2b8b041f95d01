import { DefinitionRegistry, parseDefinition, readDefinition } from '@holdfast/definitions';
import { expect, test } from 'vitest';

const invalid = (message: string): unknown =>
  expect.objectContaining({ code: 'ARGUMENT_INVALID', message: expect.stringContaining(message) });

test.each<readonly [unknown, unknown, string]>([
  [
    'name: a',
    { file: 'a.yaml', nonsense: 1 },
    'parseDefinition has no option "nonsense". Known options: file, format.',
  ],
  ['name: a', { path: 'a.yaml' }, 'has no option "path": use "file".'],
  ['name: a', {}, 'file of parseDefinition must be a string, found nothing.'],
  ['name: a', { file: 5 }, 'file of parseDefinition must be a string, found number 5.'],
  ['name: a', { file: 'a', format: 'toml' }, 'format of parseDefinition must be one of markdown, yaml, json'],
  ['name: a', 'a.yaml', 'parseDefinition takes an object with options, found a string.'],
  ['name: a', undefined, 'parseDefinition takes an object with options, found nothing.'],
  [{ name: 'a' }, { file: 'a.json' }, 'The text of a definition must be a string, found an object.'],
])('parseDefinition refuses %o with %o', (text, options, message) => {
  expect(() => parseDefinition(text as never, options as never)).toThrow(invalid(message));
});

test('a path that is not a string is refused', async () => {
  for (const path of [undefined, 5, new URL('file:///a.md')]) {
    await expect(readDefinition(path as never)).rejects.toEqual(invalid('The path of a definition must be'));
    await expect(DefinitionRegistry.load(path as never)).rejects.toEqual(
      invalid('The path of a folder must be'),
    );
  }
});
