import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** The file of the worker program. */
    worker: string;
    /** The file of the program of workers that meet a poison session. */
    poisonWorker: string;
    /** The file of the worker program whose models are behind HTTP. */
    httpWorker: string;
    /** The file of the program whose callers spend the money of one owner. */
    spendingWorker: string;
  }
}

/** Makes one file of each worker, so that a process starts in a tenth of the time: hundreds are started. */
export async function setup({ provide }: TestProject): Promise<() => void> {
  const outdir = mkdtempSync(join(tmpdir(), 'holdfast-durability-'));
  await build({
    entryPoints: ['worker', 'http-worker', 'poison-worker', 'spending-worker'].map((name) =>
      fileURLToPath(new URL(`../src/${name}.ts`, import.meta.url)),
    ),
    bundle: true,
    platform: 'node',
    format: 'esm',
    splitting: true,
    conditions: ['@holdfast/source'],
    outdir,
    // What is written as CommonJS asks for the modules of Node in this way.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    outExtension: { '.js': '.mjs' },
    logLevel: 'silent',
  });
  provide('worker', join(outdir, 'worker.mjs'));
  provide('poisonWorker', join(outdir, 'poison-worker.mjs'));
  provide('httpWorker', join(outdir, 'http-worker.mjs'));
  provide('spendingWorker', join(outdir, 'spending-worker.mjs'));
  return () => rmSync(outdir, { recursive: true, force: true });
}
