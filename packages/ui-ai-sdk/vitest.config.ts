import { project } from '../../tools/config/vitest.base.ts';

export default project('ui-ai-sdk', { sharesModules: true });
