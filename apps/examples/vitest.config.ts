import { mergeConfig } from 'vitest/config';
import { project } from '../../tools/config/vitest.base.ts';

export default mergeConfig(project('examples'), { test: { globalSetup: 'test/pack.ts' } });
