import { defineConfig } from 'vitest/config';

const conditions = ['@holdfast/source', 'node', 'development|production'];

/** The tests that mutants of the state run against: one configuration without projects, as the runner wants it. */
export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ['packages/core/test/json.test.ts', 'packages/core/test/state/**/*.test.ts'],
    // A mutant that breaks anything breaks it in few cases.
    env: { EFFORT: '0.1' },
  },
});
