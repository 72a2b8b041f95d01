import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { snapshotVersion } from '@holdfast/core/engine';
import { goldenStates } from './golden-states.ts';

/** Where the golden files of the present version are. */
export const goldenFolder: string = fileURLToPath(
  new URL(`./v${snapshotVersion('holdfast/agent-state')}/`, import.meta.url),
);

/**
 * Writes the golden files that there are not yet, and returns their names. A file that exists is never written: what
 * a release wrote once must be readable for ever, so files are added to and not edited.
 */
export async function writeGolden(
  folder: string = goldenFolder,
  values: Readonly<Record<string, () => object>> = goldenStates,
): Promise<readonly string[]> {
  await mkdir(folder, { recursive: true });
  const written: string[] = [];
  for (const [name, make] of Object.entries(values)) {
    try {
      await writeFile(`${folder}/${name}.json`, `${JSON.stringify(make(), undefined, 2)}\n`, { flag: 'wx' });
      written.push(name);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
  }
  return written;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const written = await writeGolden();
  process.stdout.write(`Written: ${written.join(', ') || 'nothing, all files exist'}\n`);
}
