import { project } from '../../vitest.base.ts';

export default project('driver-ai-sdk', { sharesModules: true });
