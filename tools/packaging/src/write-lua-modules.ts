import { writeFile } from 'node:fs/promises';
import { luaModules } from './lua-modules.ts';

for (const { path, text } of await luaModules()) await writeFile(path, text);
