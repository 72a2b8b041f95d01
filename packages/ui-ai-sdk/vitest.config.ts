import { project } from '../../vitest.base.ts';

export default project('ui-ai-sdk', { sharesModules: true });
