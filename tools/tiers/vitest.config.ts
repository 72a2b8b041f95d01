import { project } from '../config/vitest.base.ts';

export default project('tiers');
