import { defineProject } from 'vitest/config';

const source = '@holdfast/source';

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
      // Child processes that a test forks resolve the workspace packages in the same way.
      execArgv: [`--conditions=${source}`],
    },
  });
}
