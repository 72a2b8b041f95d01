import { expect, test } from 'vitest';
import { sentencesOfMarkdown } from '../src/markdown.ts';
import { sentencesOfTypeScript } from '../src/typescript.ts';

const placed = (sentences: ReturnType<typeof sentencesOfMarkdown>) =>
  sentences.map(({ line, text }) => `${line} ${text}`);

test('Markdown has the sentences of paragraphs, headings, lists and cells, without blocks of code', () => {
  const markdown = `# A title

A sentence with \`code\` that
wraps. The next one.

- An item.

| a cell | another |
|---|---|
| third | fourth. Fifth. |

\`\`\`ts
// Not a sentence.
\`\`\`
`;
  expect(placed(sentencesOfMarkdown(markdown)).filter((text) => !text.includes('---'))).toEqual([
    '1 A title',
    '3 A sentence with Code that wraps.',
    '4 The next one.',
    '6 An item.',
    '8 a cell',
    '8 another',
    '10 third',
    '10 fourth.',
    '10 Fifth.',
  ]);
});

test('TypeScript has the sentences of comments, of strings and of templates', () => {
  const source = `import { a } from 'b';
/**
 * A doc comment with {@link a}.
 * @throws Error when it fails.
 */
export function f() {
  // A comment of
  // two lines.
  throw new Error(\`Unknown tool "\${a}". Known tools: \${a}.\`); // A trailing one.
}
const message = 'Pass a number.';
`;
  expect(placed(sentencesOfTypeScript('f.ts', source))).toEqual([
    '3 A doc comment with Code.',
    '4 @throws Error when it fails.',
    '7 A comment of two lines.',
    '9 A trailing one.',
    '9 Unknown tool "Code".',
    '9 Known tools: Code.',
    '11 Pass a number.',
  ]);
});
