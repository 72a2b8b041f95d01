import { project } from '../../tools/config/vitest.base.ts';

export default project('conformance', { sharesModules: true });
