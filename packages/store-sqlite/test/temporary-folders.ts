import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll } from 'vitest';

/** Makes folders that are gone when the tests of the file have run. */
export function temporaryFolders(): {
  readonly newFolder: () => string;
  /** The path of a file that is not there yet. */
  readonly newFile: () => string;
  /** A file that a database with this content was written to. */
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
