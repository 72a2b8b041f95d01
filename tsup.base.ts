import { defineConfig } from 'tsup';

/**
 * The JavaScript of a published package; `tsc -p tsconfig.build.json` writes the declarations beside it. It is readable
 * as it is: maps and sources would be three quarters of what users install.
 */
export function library(entry: readonly string[]) {
  return defineConfig({
    entry: [...entry],
    format: 'esm',
    target: 'node22',
    clean: true,
    silent: true,
    // `node:sqlite` exists under that name only; by default tsup would import `sqlite`.
    removeNodeProtocol: false,
  });
}
