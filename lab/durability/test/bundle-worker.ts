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
    /** The file of the worker program whose models are behind HTTP. */
    httpWorker: string;
    /** The file of the program whose callers spend the money of one owner. */
    spendingWorker: string;
    /** The file of the program that serves chats, or works on them. */
    chatProcess: string;
  }
}

/** Makes one file of each worker, so that a process starts in a tenth of the time: hundreds are started. */
export async function setup({ provide }: TestProject): Promise<() => void> {
  const outdir = mkdtempSync(join(tmpdir(), 'holdfast-durability-'));
  const conditions = ['@holdfast/source'];
  const options = { bundle: true, format: 'esm' as const, conditions, outdir };
  await build({
    ...options,
    entryPoints: ['worker.ts', 'http-worker.ts', 'spending-worker.ts', 'chats/chat-process.ts'].map(sourceOf),
    entryNames: '[name]',
    platform: 'node',
    splitting: true,
    // What is written as CommonJS asks for the modules of Node in this way.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    outExtension: { '.js': '.mjs' },
    logLevel: 'silent',
  });
  await build({
    ...options,
    entryPoints: ['chats/page/chat-page.tsx', 'chats/page/stock-page.tsx'].map(sourceOf),
    platform: 'browser',
    target: 'es2022',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'silent',
  });
  provide('worker', join(outdir, 'worker.mjs'));
  provide('httpWorker', join(outdir, 'http-worker.mjs'));
  provide('spendingWorker', join(outdir, 'spending-worker.mjs'));
  provide('chatProcess', join(outdir, 'chat-process.mjs'));
  return () => rmSync(outdir, { recursive: true, force: true });
}

function sourceOf(path: string): string {
  return fileURLToPath(new URL(`../src/${path}`, import.meta.url));
}
