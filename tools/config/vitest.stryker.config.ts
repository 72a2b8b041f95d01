import { defineConfig } from 'vitest/config';

const conditions = ['@holdfast/source', 'node', 'development|production'];

/** The test files of the state below `packages/core/test`, without `.test.ts`. `MUTATION_TESTS` names those of one mutated file. */
const { MUTATION_TESTS = '{json,{state,scenarios/state}/**/*}' } = process.env;

/** The tests that mutants of the state run against: one configuration without projects, as the runner wants it. */
export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: [`packages/core/test/${MUTATION_TESTS}.test.ts`],
    // It measures, for a quarter of the time, what other tests assert.
    exclude: ['packages/core/test/scenarios/state/size.test.ts'],
    // A bound for what hangs: other tasks run at the same time.
    testTimeout: 60_000,
    // A mutant that breaks anything breaks it in few cases.
    env: { EFFORT: '0.1' },
    // The modules are loaded once for all test files of a run, which is most of the time that a run takes.
    isolate: false,
  },
});
