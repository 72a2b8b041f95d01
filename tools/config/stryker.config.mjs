/** Mutation tests of the state: how many small wrong changes of the code do its tests notice? */
export default {
  plugins: ['@stryker-mutator/vitest-runner'],
  testRunner: 'vitest',
  vitest: { configFile: 'tools/config/vitest.stryker.config.ts' },
  coverageAnalysis: 'perTest',
  mutate: ['packages/core/src/state/**/*.ts'],
  ignorePatterns: ['**/dist', '**/temp', '.turbo', 'apps', 'lab', 'docs', 'reports', '.holdfast'],
  concurrency: 2,
  // A runner of Vitest grows slower with every mutant, and several times as slow over a full run.
  maxTestRunnerReuse: 25,
  // A mutant that survives beside other tasks must not count as one that hangs.
  timeoutMS: 20_000,
  reporters: ['clear-text', 'json'],
  clearTextReporter: { logTests: false, reportTests: false, allowEmojis: false },
  jsonReporter: { fileName: 'reports/mutation.json' },
  thresholds: { high: 95, low: 85, break: 85 },
  allowConsoleColors: false,
  tempDirName: '.stryker-tmp',
};
