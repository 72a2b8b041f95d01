import { expect, test } from 'vitest';
import { blocks, examples } from './sources.ts';

const shown = blocks();
const known = examples();

test('each block of code of a page that is not converted is an example that runs', () => {
  const texts = new Set(known.map(({ text }) => text));
  expect(shown.filter(({ text }) => !texts.has(text)).map(({ name }) => name)).toEqual([]);
});

test('each example is shown in a page that is not converted', () => {
  const texts = new Set(shown.map(({ text }) => text));
  expect(known.filter(({ text }) => !texts.has(text)).map(({ name }) => name)).toEqual([]);
});
