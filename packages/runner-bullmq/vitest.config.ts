import { project } from '../../tools/config/vitest.base.ts';

export default project('runner-bullmq', { sharesModules: true });
