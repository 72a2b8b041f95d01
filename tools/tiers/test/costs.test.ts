import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hasGrown, readCosts, repository, tierOf, updatedCosts, type Costs } from '../src/costs.ts';
import { filesOf, namesFiles } from '../src/tier-files.ts';

const costs: Costs = {
  limits: { fast: 2, medium: 8 },
  exceptions: { 'packages/core/test/e.test.ts': { tier: 'heavy', reason: 'needs a test' } },
  seconds: {
    'packages/core/test/a.test.ts': 1.5,
    'packages/core/test/b/c.test.ts': 2,
    'packages/core/test/d.test.ts': 8,
    'packages/other/test/d.test.ts': 80,
  },
};
const all = 'test/**/*.test.ts';

describe('a test file', () => {
  test.each([
    ['packages/core/test/unlisted.test.ts', 'fast'],
    ['packages/core/test/a.test.ts', 'fast'],
    ['packages/core/test/b/c.test.ts', 'medium'],
    ['packages/core/test/d.test.ts', 'heavy'],
    ['packages/core/test/e.test.ts', 'heavy'],
  ])('%s is %s', (path, tier) => {
    expect(tierOf(path, costs)).toBe(tier);
  });

  test.each([
    ['fast', [all], ['test/b/c.test.ts', 'test/d.test.ts', 'test/e.test.ts']],
    ['test', [all], ['test/d.test.ts', 'test/e.test.ts']],
    ['heavy', ['test/d.test.ts', 'test/e.test.ts'], []],
  ])('runs in %s by its tier', (name, include, exclude) => {
    expect(filesOf('core', name, costs)).toEqual({ include, exclude });
  });

  test('runs in any tier when the command names it', () => {
    expect(namesFiles(['run', '--project', 'core'])).toBe(false);
    expect(namesFiles(['run', '--project', 'core', '-t', 'a name', 'a.test.ts'])).toBe(true);
  });

  test.each([
    ['packages/core/test/unlisted.test.ts', 3, false],
    ['packages/core/test/unlisted.test.ts', 3.1, true],
    ['packages/core/test/d.test.ts', 24, false],
    ['packages/core/test/d.test.ts', 24.1, true],
  ])('%s that costs %d s has grown: %s', (path, seconds, grown) => {
    expect(hasGrown(path, seconds, costs)).toBe(grown);
  });
});

test('a measurement replaces a cost that differs by more than a quarter, and removes a small one', () => {
  const here = 'tools/tiers/test/costs.test.ts';
  const inputs = 'tools/tiers/test/inputs.test.ts';
  const seconds = { [here]: 4, [inputs]: 4, 'tools/tiers/test/gone.test.ts': 4 };
  const after = (measured: Record<string, number>) =>
    updatedCosts({ ...costs, seconds }, new Map(Object.entries(measured))).seconds;
  expect(after({})).toEqual({ [here]: 4, [inputs]: 4 });
  expect(after({ [here]: 5, [inputs]: 5.06 })).toEqual({ [here]: 4, [inputs]: 5.1 });
  expect(after({ [here]: 0.9 })).toEqual({ [inputs]: 4 });
});

describe('the table', () => {
  const { exceptions, seconds } = readCosts();
  const paths = Object.keys({ ...exceptions, ...seconds });

  test('names files that exist', () => {
    expect(paths.filter((path) => !existsSync(join(repository, path)))).toEqual([]);
  });

  test('leaves a file of each published package to `pnpm test`', () => {
    const files = globSync('packages/*/test/**/*.test.ts', {
      cwd: repository,
    });
    const folders = Map.groupBy(files, (path) => path.slice(0, path.indexOf('/test/')));
    const without = Array.from(folders).filter(([, own]) =>
      own.every((path) => tierOf(path, readCosts()) === 'heavy'),
    );
    expect(without.map(([folder]) => folder)).toEqual([]);
  });
});
