import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** Makes folders that are gone when the tests of the file have run. */
export function temporaryFolders(): { readonly newFolder: () => string; readonly newFile: () => string } {
  const folders: string[] = [];
  afterAll(() => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });
  const newFolder = (): string => {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-sqlite-'));
    folders.push(folder);
    return folder;
  };
  return { newFolder, newFile: () => join(newFolder(), 'sessions.db') };
}
