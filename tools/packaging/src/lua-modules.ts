import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { packages } from './paths.ts';

/** A module that has the text of each `.lua` file of its folder. */
export interface LuaModule {
  readonly path: string;
  /** The text that the module must have. */
  readonly text: string;
}

const HEADING = `/**
 * The text of each \`.lua\` file in this folder, in one line, by the name of the file. Generated: change the files, then
 * run \`pnpm lua\`.
 */
export const LUA = {
`;

/** Returns the modules of all packages with scripts for Redis. */
export async function luaModules(): Promise<readonly LuaModule[]> {
  const names = await readdir(packages);
  const folders = names.map((name) => join(packages, name, 'src/scripts'));
  const found = await Promise.all(folders.filter((folder) => existsSync(folder)).map(luaModule));
  return found.filter((module) => module !== undefined);
}

async function luaModule(folder: string): Promise<LuaModule | undefined> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.lua')).toSorted();
  if (files.length === 0) return undefined;
  const members = files.map(async (file) => {
    const text = await readFile(join(folder, file), 'utf8');
    return `  ${memberName(file.replace(/\.lua$/u, ''))}:\n    ${literal(text)},\n`;
  });
  return { path: join(folder, 'lua.ts'), text: `${HEADING}${(await Promise.all(members)).join('')}};\n` };
}

function memberName(name: string): string {
  return /^[a-z]+$/u.test(name) ? name : `'${name}'`;
}

/** Returns a string literal of one line, with the quotes that need fewer escapes. */
function literal(text: string): string {
  const quote = text.split("'").length > text.split('"').length ? '"' : "'";
  const escaped = text.replaceAll(/[\\'"]/gu, (match) =>
    match === '\\' || match === quote ? `\\${match}` : match,
  );
  return `${quote}${escaped.replaceAll('\n', String.raw`\n`)}${quote}`;
}
