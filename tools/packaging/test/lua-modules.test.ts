import { readFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { expect, test } from 'vitest';
import { luaModules } from '../src/lua-modules.ts';
import { repository } from '../src/paths.ts';

const modules = (await luaModules()).map((module) => [relative(repository, module.path), module] as const);

test('two packages have scripts for Redis', () => {
  expect(modules.map(([name]) => name)).toEqual([
    'packages/runner-bullmq/src/scripts/lua.ts',
    'packages/store-redis/src/scripts/lua.ts',
  ]);
});

test.each(modules)(
  '%s has the text of the .lua files; otherwise run `pnpm lua`',
  async (_, { path, text }) => {
    await expect(readFile(path, 'utf8')).resolves.toBe(text);
  },
);
