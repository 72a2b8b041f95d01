import { mergeConfig } from 'vitest/config';
import { project } from '../../tools/config/vitest.base.ts';

export default mergeConfig(project('playground'), {
  test: { globalSetup: 'test/support/bundle-playground.ts' },
});
