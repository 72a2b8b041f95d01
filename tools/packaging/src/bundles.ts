import assert from 'node:assert/strict';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build, type Plugin } from 'esbuild';
import { publishedPackages } from './manifests.ts';

/** Imports of an application, and the bytes that each may add to its bundle: minified, compressed, without the AI SDK. */
const LIMITS: readonly (readonly [program: string, limit: number])[] = [
  ["export { userMessage } from '@holdfast/core'", 6_000],
  ["export { tool } from '@holdfast/core'", 8_000],
  ["export { AgentState } from '@holdfast/core'", 29_500],
  ["export { SessionRuntime } from '@holdfast/core'", 56_000],
  ["export { createAgentLoop } from '@holdfast/core'", 77_000],
  ["export { HoldfastChatTransport } from '@holdfast/ui-ai-sdk/transport'", 9_000],
  ["export { toUIMessages } from '@holdfast/ui-ai-sdk'", 34_000],
];

/** Bundles what applications import. @throws Error for a bundle that is larger than its limit. */
export async function checkBundleSizes(project: string): Promise<void> {
  for (const [program, limit] of LIMITS) {
    const bytes = gzipSync(await bundled(project, program), { level: 9 }).length;
    assert(bytes <= limit, `\`${program}\` adds ${bytes} bytes to an application; the limit is ${limit}.`);
  }
}

/**
 * Bundles each entry of each package for an application that uses nothing of it. Code that is left has effects when
 * it is loaded: every application would have it. @throws Error for an entry that leaves something.
 */
export async function checkUnusedEntries(project: string): Promise<void> {
  for (const { manifest } of publishedPackages()) {
    const { exports: entries } = manifest['publishConfig'] as { readonly exports: object };
    for (const entry of Object.keys(entries).filter((path) => !path.endsWith('.json'))) {
      const left = await bundled(project, `import '${join(manifest.name, entry)}'`, [effectsOfOurs]);
      assert.equal(left.trim(), '', `\`import '${join(manifest.name, entry)}'\` leaves code in a bundle.`);
    }
  }
}

async function bundled(project: string, contents: string, plugins: Plugin[] = []): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: project },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    external: ['ai'],
    plugins,
    write: false,
    logLevel: 'error',
  });
  return outputFiles.map(({ text }) => text).join('');
}

/**
 * Our modules are bundled as if they had effects, in spite of `sideEffects: false` in their package.json; all others have
 * none. Imports in functions are not followed.
 */
const effectsOfOurs: Plugin = {
  name: 'effects-of-ours',
  setup(builder) {
    builder.onResolve({ filter: /.*/ }, async ({ path, importer, resolveDir, kind, pluginData }) => {
      if (pluginData === 'asked') return undefined;
      const isOurs = path.startsWith('@holdfast/') || path.startsWith('.');
      if (!isOurs || kind === 'dynamic-import') return { path, external: true, sideEffects: false };
      return {
        ...(await builder.resolve(path, { importer, resolveDir, kind, pluginData: 'asked' })),
        sideEffects: true,
      };
    });
  },
};
