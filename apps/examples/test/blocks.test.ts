import { expect, test } from 'vitest';
import { blocksOf, fileNameOf, fileTextOf, isProgram, outputOf } from '../src/blocks.ts';

const page = `# Title

\`\`\`ts title="a.ts"
export const a = 1;
\`\`\`

\`\`\`ts
console.log(1); // => 1
// => two …
\`\`\`

1. In a list:

   \`\`\`\`md title="agents/writer.md"
   \`\`\`ts
   text
   \`\`\`
   \`\`\`\`

\`\`\`ts compile-only
await forever();
\`\`\`

\`\`\`sh
ls
\`\`\`

~~~ts
console.log(2);`;

test('each block is a file, which has its code at the line of the page', () => {
  const blocks = blocksOf(page);
  expect(blocks.map(fileNameOf)).toEqual([
    'a.ts',
    'line-7.ts',
    'agents/writer.md',
    'line-20.ts',
    undefined,
    'line-28.ts',
  ]);
  const files = blocks.map(fileTextOf);
  expect(files[1]?.split('\n').indexOf('console.log(1); // => 1')).toBe(7);
  expect(files[2]).toBe('```ts\ntext\n```\n');
  expect(files[5]?.trim()).toBe('console.log(2);');
});

test('a block in ts is a program, unless it only compiles or is a module without output', () => {
  expect(blocksOf(page).map(isProgram)).toEqual([false, true, false, false, false, true]);
  const titled = blocksOf('```ts title="a.ts"\nconsole.log(1); // => 1\n```');
  expect(titled.map(isProgram)).toEqual([true]);
});

test('a program prints its comments', () => {
  expect(blocksOf(page).map(outputOf)).toEqual(['', '1\ntwo …', '', '', '', '']);
});

test.each([
  ['```js\n```', 'Line 1: the fence says js. Write the program in ts.'],
  ['```ts title=a.ts\n```', 'the fence says title=a.ts.'],
  ['```ts title="../a.ts"\n```', 'the fence says title="../a.ts".'],
  ['```ts title="/a.ts"\n```', 'the fence says title="/a.ts".'],
  ['text\n```ts skip\n```', 'Line 2: the fence says skip.'],
])('%j is refused', (markdown, message) => {
  expect(() => blocksOf(markdown)).toThrow(message);
});
