import { mergeConfig } from 'vitest/config';
import { project } from '../../tools/config/vitest.base.ts';

export default mergeConfig(project('playground'), {
  test: {
    globalSetup: 'test/support/bundle-playground.ts',
    // Bounds for what hangs: most tests start processes and pages, ten at once.
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
