import { project } from '../../tools/config/vitest.base.ts';

export default project('driver-ai-sdk', { sharesModules: true });
