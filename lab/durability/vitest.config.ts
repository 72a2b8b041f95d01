import { mergeConfig } from 'vitest/config';
import { project } from '../../tools/config/vitest.base.ts';

export default mergeConfig(project('durability'), {
  test: { globalSetup: ['test/bundle-worker.ts'], testTimeout: 1_800_000 },
});
