import { readdir, readFile } from 'node:fs/promises';

const FOLDER = new URL('../src/scripts/', import.meta.url);

/** The generated module, which holds the text of each `.lua` file. */
export const LUA_MODULE = new URL('lua.ts', FOLDER);

const HEADING = `/**
 * The text of each \`.lua\` file in this folder, by the name of the file. Generated: change the files, then run
 * \`pnpm --filter @holdfast/store-redis lua\`.
 */
export const LUA = {
`;

/** Returns the text of the generated module for the current `.lua` files. */
export async function luaModule(): Promise<string> {
  const files = (await readdir(FOLDER)).filter((name) => name.endsWith('.lua')).toSorted();
  const members = files.map(async (file) => {
    const text = await readFile(new URL(file, FOLDER), 'utf8');
    return `  ${memberName(file.replace(/\.lua$/u, ''))}: \`${escapeTemplate(text)}\`,\n`;
  });
  return `${HEADING}${(await Promise.all(members)).join('')}};\n`;
}

function memberName(name: string): string {
  return /^[a-z]+$/u.test(name) ? name : `'${name}'`;
}

/** Escapes a text for a template literal. */
function escapeTemplate(text: string): string {
  return text.replaceAll(/[\\`]|\$\{/gu, (match) => `\\${match}`);
}
