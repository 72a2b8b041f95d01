import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { withRemovableConstants } from '../../config/removable-constants.ts';

/** Returns the code that a bundler keeps of a module whose exports are not imported. */
async function left(source: string): Promise<string> {
  const stdin = { contents: withRemovableConstants(source), loader: 'ts' as const };
  const { outputFiles } = await build({ stdin, bundle: true, format: 'esm', target: 'node22', write: false });
  return outputFiles.map(({ text }) => text.replace(/^\/\/.*$/gm, '').trim()).join('');
}

test.each([
  ['a call', 'const names = Object.keys({ a: 1 });'],
  ['a call in a list', 'const lists = [1, [Array.of(2)]] as const;'],
  ['a member', 'const parent = { a: 1 }; const a: number = parent.a;'],
  ['a spread', 'const parent = { a: 1 }; const child = { ...parent, b: 2 } satisfies object;'],
  ['a computed name', 'const name = "a"; const table: Record<string, number> = { [name]: 1 };'],
  ['a sum', 'const text = `a${Date.now()}` + Math.random();'],
  ['an expression', 'const sign = /\\p{Bidi_Control}/u;'],
  ['static fields', 'class A { static readonly none: A = new A(); private static b = Symbol("b"); }'],
  ['a function of a function', 'const f = ((g: () => void) => g)(() => undefined);'],
])('%s is removed', async (_, source) => {
  expect(await left(source)).toBe('');
});

test('what a module does beside its constants is left', async () => {
  expect(await left('const a = Object.keys({}); console.log("loaded");')).toBe('console.log("loaded");');
});

test('plain values stay as they are, and values keep their names and order', () => {
  const plain = 'const a = 1, b = "x", c = [a, { b, d: null }] as const, f = () => new Map(), A = class {};';
  expect(withRemovableConstants(plain)).toBe(plain);
  expect(withRemovableConstants('export const a = f(), b = g(a);')).toBe(
    'export const a = /* @__PURE__ */ (() => (f()))(), b = /* @__PURE__ */ (() => (g(a)))();',
  );
});

test('fields of an instance and what runs later stay as they are', () => {
  const source = 'class A { b = f(); static c() { return f(); } }\nfunction d() { return f(); }';
  expect(withRemovableConstants(source)).toBe(source);
});
