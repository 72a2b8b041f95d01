import { fileURLToPath } from 'node:url';
import { defineProject } from 'vitest/config';

const source = '@holdfast/source';
const compileCache = fileURLToPath(new URL('node_modules/.cache/compiled', import.meta.url));

/** The tests of one package, with every workspace package resolved to its source. */
export function project(name: string) {
  const conditions = [source, 'node', 'development|production'];
  return defineProject({
    resolve: { conditions },
    ssr: { resolve: { conditions } },
    test: {
      name,
      include: ['test/**/*.test.ts'],
      // A bound for what hangs. On a busy machine a test of a second takes ten.
      testTimeout: 30_000,
      // Vitest leaves a processor free by default: half of a machine with two.
      maxWorkers: '100%',
      // A child process starts in half of the time when Node does not compile its modules again.
      env: { NODE_COMPILE_CACHE: compileCache },
      // Child processes that a test forks resolve the workspace packages in the same way.
      execArgv: [`--conditions=${source}`],
    },
  });
}
