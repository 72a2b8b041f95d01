import { mergeConfig } from 'vitest/config';
import { project } from '../../vitest.base.ts';

export default mergeConfig(project('examples'), { test: { globalSetup: 'test/pack.ts' } });
