import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Metafile } from 'esbuild';
import { afterAll, expect, test } from 'vitest';
import { fileNameOf, isProgram } from '../src/blocks.ts';
import { allPages } from '../src/pages.ts';
import { createProject } from '../src/project.ts';

const program = allPages()
  .filter(({ path }) => path === 'README.md')
  .flatMap(({ blocks }) => blocks.filter(isProgram))
  .find(({ text }) => text.includes('@holdfast/driver-ai-sdk'));
const project = await createProject();
const readme = await bundle(join(project, 'pages/README.md', (program && fileNameOf(program)) ?? ''));
const withAiSdk = await bundle(fileURLToPath(new URL('readme-with-ai-sdk.ts', import.meta.url)));

afterAll(() => rm(project, { recursive: true }));

test('the program of the README is short', () => {
  expect(program?.text.split('\n').filter(Boolean).length).toBeLessThan(25);
});

test('the program of the README bundles to at most 1.25 times the same program with the AI SDK alone', () => {
  expect(readme.bytes / withAiSdk.bytes).toBeLessThanOrEqual(1.25);
});

test('the driver brings neither `ai` nor the gateway into a bundle', () => {
  const packages = ['ai', '@ai-sdk/gateway'];
  expect(packages.filter((name) => readme.packages.has(name))).toEqual([]);
  expect(packages.filter((name) => withAiSdk.packages.has(name))).toEqual(packages);
});

/** The size of a minified program, and the names of the installed packages in it. */
async function bundle(program: string): Promise<{ bytes: number; packages: ReadonlySet<string> }> {
  const { metafile } = await build({
    entryPoints: [program],
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'esm',
    write: false,
    metafile: true,
    outdir: '/',
  });
  const outputs = Object.values(metafile.outputs);
  const bytes = outputs.reduce((sum, output) => sum + output.bytes, 0);
  return { bytes, packages: new Set(outputs.flatMap(packagesOf)) };
}

/** Packages of which tree shaking left something. */
function packagesOf({ inputs }: Metafile['outputs'][string]): readonly string[] {
  return Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => {
    const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];
    return name !== undefined && bytesInOutput > 0 ? [name] : [];
  });
}
