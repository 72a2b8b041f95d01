import { project } from '../../tools/config/vitest.base.ts';

export default project('providers', { sharesModules: true });
