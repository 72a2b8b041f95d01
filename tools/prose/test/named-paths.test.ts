import { expect, test } from 'vitest';
import { endsOfPaths, missingPaths } from '../src/named-paths.ts';

const existing = endsOfPaths(['packages/core/src/loop/agent-loop.ts', 'docs/guide/tools.md', 'README.md']);
const missingIn = (code: string): readonly string[] =>
  missingPaths(`Read\n\`${code}\`.`, existing).map(({ line, message }) => `${line} ${message}`);

test.each([
  'packages/core/src/agent-loop.ts',
  'loop/run/agent-loop.ts',
  'agent-run.ts',
  'docs/guide/tool.md',
  'packages/*/test',
  'packages/core/lib/',
])('a page may not name `%s`', (path) => {
  expect(missingIn(path)).toEqual([`2 \`${path.replace(/\/$/, '')}\` does not exist.`]);
});

test('a path in a command is checked', () => {
  expect(missingIn('node docs/guide/x.ts --all')).toEqual(['2 `docs/guide/x.ts` does not exist.']);
});

test.each([
  'packages/core/src/loop/agent-loop.ts',
  'loop/agent-loop.ts',
  'agent-loop.ts',
  'packages/core/src/',
  'packages/*/src',
  'docs/guide/tools.md',
  'packages/core/src/FILE.ts',
  '@holdfast/core/engine',
  'openai/gpt-5',
  'https://example.com/docs/a.md',
  'package.json',
  'a.md',
])('a page may name `%s`', (path) => {
  expect(missingIn(path)).toEqual([]);
});
