import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { goldenStates } from './golden-states.ts';
import { goldenStates2 } from './golden-states-2.ts';

/** Where the golden files of version 1 are. The version is closed. */
export const goldenFolder: string = fileURLToPath(new URL('./v1/', import.meta.url));
/** Where those of version 2 are, which is open: its files may still be written anew. */
export const openGoldenFolder: string = fileURLToPath(new URL('./v2-open/', import.meta.url));

/**
 * Writes golden files, and returns their names. Of a closed version only those that there are not yet: what a release
 * wrote once must be readable for ever, so its files are added to and not edited.
 */
export async function writeGolden(
  folder: string = goldenFolder,
  values: Readonly<Record<string, () => object>> = goldenStates,
  { isOpen = false }: { readonly isOpen?: boolean } = {},
): Promise<readonly string[]> {
  await mkdir(folder, { recursive: true });
  const written: string[] = [];
  const flag = isOpen ? 'w' : 'wx';
  for (const [name, make] of Object.entries(values)) {
    try {
      await writeFile(`${folder}/${name}.json`, `${JSON.stringify(make(), undefined, 2)}\n`, { flag });
      written.push(name);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
  }
  return written;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const written = process.argv.includes('--open')
    ? await writeGolden(openGoldenFolder, goldenStates2, { isOpen: true })
    : await writeGolden();
  process.stdout.write(`Written: ${written.join(', ') || 'nothing, all files exist'}\n`);
}
