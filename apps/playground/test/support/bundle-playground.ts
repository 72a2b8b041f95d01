import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { TestProject } from 'vitest/node';
import { clientFiles } from '../../src/server/bundle.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The file of the bundled playground. */
    playground: string;
  }
}

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** Replaces esbuild in the bundled playground: it returns the files that were built once. */
const builtOnce = `
import { readFile } from 'node:fs/promises';
const contentsOf = (path) => readFile(new URL('.' + path, import.meta.url));
export const build = async () => ({
  outputFiles: await Promise.all(['/app.js', '/app.css'].map(async (path) => ({ path, contents: await contentsOf(path) }))),
});
`;

/**
 * Bundles the playground, and builds its page, once for all processes of a run: a process then starts in a third of the
 * time, and does not build the page again.
 */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const outdir = await mkdtemp(join(tmpdir(), 'holdfast-playground-bundle-'));
  await build({
    entryPoints: [main],
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    conditions: ['@holdfast/source'],
    external: ['esbuild'],
    outdir,
    outExtension: { '.js': '.mjs' },
    // CommonJS modules require the modules of Node.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    logLevel: 'silent',
  });
  await writePage(join(outdir, 'node_modules/esbuild'));
  provide('playground', join(outdir, 'main.mjs'));
  return () => rm(outdir, { recursive: true, force: true });
}

/** Writes the built files of the page, and the module that returns them. */
async function writePage(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), '{ "type": "module", "exports": "./index.js" }');
  await writeFile(join(folder, 'index.js'), builtOnce);
  const fileOf = clientFiles();
  for (const path of ['/app.js', '/app.css'] as const) {
    const file = await fileOf(path);
    if (file === undefined) throw new Error(`The page has no file ${path}.`);
    await writeFile(join(folder, path), file.body);
  }
}
