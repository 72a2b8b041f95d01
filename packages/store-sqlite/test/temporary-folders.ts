import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll } from 'vitest';

/** Creates folders, and removes them after the tests of the file. */
export function temporaryFolders(): {
  readonly newFolder: () => string;
  /** Returns the path of a new file, which does not exist yet. */
  readonly newFile: () => string;
  /** Creates a database file with this content, and returns its path. */
  readonly databaseFile: (sql: string) => string;
} {
  const folders: string[] = [];
  afterAll(() => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });
  const newFolder = (): string => {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-sqlite-'));
    folders.push(folder);
    return folder;
  };
  const newFile = (): string => join(newFolder(), 'sessions.db');
  const databaseFile = (sql: string): string => {
    const path = newFile();
    const database = new DatabaseSync(path);
    database.exec(sql);
    database.close();
    return path;
  };
  return { newFolder, newFile, databaseFile };
}
