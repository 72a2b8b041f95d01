import { expect, test } from 'vitest';
import { checkedFiles } from '../src/files.ts';

test('the check covers pages, sources and messages, and no reports', () => {
  const files = checkedFiles();
  expect(files).toContain('docs/guide/tools.md');
  expect(files).toContain('packages/core/src/loop/agent-loop.ts');
  expect(files).not.toContain('packages/core/etc/core.api.md');
});
