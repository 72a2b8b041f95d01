import { project } from '../../tools/config/vitest.base.ts';

export default project('store-dynamodb', { sharesModules: true });
