import { expect, test } from 'vitest';
import { blocks, examples } from './sources.ts';

const shown = blocks();
const known = examples();

test('each block of code in the docs is an example that runs', () => {
  const texts = new Set(known.map(({ text }) => text));
  expect(shown.length).toBeGreaterThan(10);
  expect(shown.filter(({ text }) => !texts.has(text)).map(({ name }) => name)).toEqual([]);
});

test('each example is shown in the docs', () => {
  const texts = new Set(shown.map(({ text }) => text));
  expect(known.filter(({ text }) => !texts.has(text)).map(({ name }) => name)).toEqual([]);
});

test('the first example is short', () => {
  const first = shown.find(({ name }) => name.startsWith('README.md:'));
  expect(first?.text.split('\n').filter(Boolean).length).toBeLessThan(25);
});
