import { join } from 'node:path';

export const app = join(import.meta.dirname, '..');
export const repository = join(app, '../..');
export const packages = join(repository, 'packages');
/** Runtimes and compilers that only these checks need: no member of the workspace, so nothing else installs them. */
export const tools = join(app, 'tools');
