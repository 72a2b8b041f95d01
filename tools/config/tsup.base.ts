import { defineConfig } from 'tsup';

/**
 * The JavaScript of a published package, with source maps; `tsc -p tsconfig.build.json` writes the declarations and their
 * maps beside it. Both kinds of map point to `src`, which is published too, so that no map repeats the sources.
 */
export function library(entry: readonly string[]) {
  return defineConfig({
    entry: [...entry],
    format: 'esm',
    target: 'node22',
    clean: true,
    sourcemap: true,
    esbuildOptions: (options) => {
      options.sourcesContent = false;
    },
    silent: true,
    // `node:sqlite` exists under that name only; by default tsup would import `sqlite`.
    removeNodeProtocol: false,
  });
}
