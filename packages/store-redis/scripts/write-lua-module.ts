import { writeFile } from 'node:fs/promises';
import { LUA_MODULE, luaModule } from './lua-module.ts';

await writeFile(LUA_MODULE, await luaModule());
