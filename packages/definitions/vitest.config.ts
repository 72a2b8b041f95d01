import { project } from '../../tools/config/vitest.base.ts';

export default project('definitions', { sharesModules: true });
