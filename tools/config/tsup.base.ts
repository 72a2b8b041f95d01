import { defineConfig } from 'tsup';
import { firstChunk } from './first-chunk.ts';
import { removableConstants } from './removable-constants.ts';

interface LibraryOptions {
  /**
   * True for a package whose entries are used together: all modules of the first entry come in one file, which each entry
   * loads. One large file loads faster than many small ones.
   */
  readonly areUsedTogether?: boolean;
}

/**
 * The JavaScript of a published package, with source maps; `tsc -p tsconfig.build.json` writes the declarations and their
 * maps beside it. Both kinds of map point to `src`, which is published too, so that no map repeats the sources.
 */
export function library(entry: readonly string[], { areUsedTogether = false }: LibraryOptions = {}) {
  return defineConfig({
    entry: [...entry],
    format: 'esm',
    target: 'node22',
    clean: true,
    sourcemap: true,
    esbuildPlugins: [...(areUsedTogether ? [firstChunk(entry)] : []), removableConstants],
    esbuildOptions: (options) => {
      options.sourcesContent = false;
    },
    silent: true,
    // `node:sqlite` exists under that name only; by default tsup would import `sqlite`.
    removeNodeProtocol: false,
  });
}
