import { project } from '../../vitest.base.ts';

export default project('store-dynamodb', { sharesModules: true });
