import type { Options } from 'tsup';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';

type Plugin = NonNullable<Options['esbuildPlugins']>[number];

const FIRST = 'the first entry';

/**
 * Puts all modules of the first entry of a package into one file: esbuild joins the modules that all entries load, so each
 * other entry loads the first one.
 */
export function firstChunk([first = '', ...others]: readonly string[]): Plugin {
  const paths = new Set(others.map((path) => resolve(path)));
  return {
    name: 'first-chunk',
    setup(builder) {
      builder.onResolve({ filter: new RegExp(`^${FIRST}$`) }, () => ({
        path: resolve(first),
        sideEffects: true,
      }));
      builder.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        if (!paths.has(path)) return undefined;
        return { contents: `${await readFile(path, 'utf8')}\nimport '${FIRST}';\n`, loader: 'ts' };
      });
    },
  };
}
