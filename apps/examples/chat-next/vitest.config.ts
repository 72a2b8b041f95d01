import { mergeConfig } from 'vitest/config';
import { project } from '../../../tools/config/vitest.base.ts';

export default mergeConfig(project('chat-next'), { test: { globalSetup: 'test/build.ts' } });
