import { expect, test } from 'vitest';
import { checkedFiles } from '../src/files.ts';
import { outdatedEntries, readList } from '../src/list.ts';

test('a listed file that is clean is outdated', () => {
  expect(outdatedEntries(['a.md', 'b.md'], new Set(['b.md', 'c.md']))).toEqual(['a.md']);
});

test('the check covers pages, sources and messages, and no reports', () => {
  const files = checkedFiles();
  expect(files).toContain('docs/guide/tools.md');
  expect(files).toContain('packages/core/src/loop/agent-loop.ts');
  expect(files).not.toContain('packages/core/etc/core.api.md');
});

test('every listed file is checked', () => {
  const files = checkedFiles();
  expect(readList().filter((file) => !files.includes(file))).toEqual([]);
});
