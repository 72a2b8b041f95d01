import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach } from 'vitest';

/** Returns a function that creates a folder with files by their paths. Removes the folders after each test. */
export function temporaryFolders(): (
  files: Readonly<Record<string, string | Uint8Array>>,
) => Promise<string> {
  const folders: string[] = [];
  afterEach(() => Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true }))));
  return async (files) => {
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-definitions-'));
    folders.push(folder);
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), content);
    }
    return folder;
  };
}
