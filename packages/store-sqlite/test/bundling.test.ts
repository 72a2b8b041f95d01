import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build, type BuildOptions, type Plugin } from 'esbuild';
import { expect, test } from 'vitest';
import { temporaryFolders } from './temporary-folders.ts';

const { newFolder, newFile } = temporaryFolders();
const run = promisify(execFile);
const program = fileURLToPath(new URL('children/save-and-load.ts', import.meta.url));

/** tsup bundles with this option by default, and esbuild itself does so for old targets. */
const stripPrefix: Plugin = {
  name: 'strip-node-prefix',
  setup: (bundler) => {
    bundler.onResolve({ filter: /^node:/ }, ({ path }) => ({
      path: path.slice('node:'.length),
      external: true,
    }));
  },
};

const ways: [string, BuildOptions][] = [
  ['an ES module', { format: 'esm', outfile: 'bundle.mjs' }],
  ['CommonJS', { format: 'cjs', outfile: 'bundle.cjs' }],
  [
    'a bundle that imports builtins without node:',
    { format: 'esm', outfile: 'bundle.mjs', plugins: [stripPrefix] },
  ],
];

test.each(ways)('the store works in %s', async (_, { outfile = '', ...options }) => {
  const bundle = join(newFolder(), outfile);
  await build({
    entryPoints: [program],
    bundle: true,
    minify: true,
    platform: 'node',
    conditions: ['@holdfast/source'],
    outfile: bundle,
    ...options,
  });
  const { stdout } = await run(process.execPath, [bundle, newFile()]);
  expect(stdout).toBe('writer 1');
});
