import { DatabaseSync } from 'node:sqlite';

export const TABLES = [
  'sessions',
  'session_values',
  'session_lists',
  'session_inbox',
  'session_archives',
  'workers',
];

/** Copies a file. The returned function replaces the rows of the file by those of the copy. */
export async function rememberFile(file: string, copy: string): Promise<() => Promise<void>> {
  overFile(file, (database) => database.exec(`VACUUM INTO '${copy}'`));
  return async () =>
    overFile(file, (database) => {
      const rows = TABLES.map((table) => `INSERT INTO main.${table} SELECT * FROM copy.${table}`);
      const statements = ['BEGIN IMMEDIATE', 'DELETE FROM main.sessions', ...rows, 'COMMIT'];
      database.exec(`ATTACH '${copy}' AS copy; ${statements.join('; ')}`);
    });
}

/** Calls a function with a new connection to a file. */
export function overFile(file: string, act: (database: DatabaseSync) => void): void {
  const database = new DatabaseSync(file);
  try {
    act(database);
  } finally {
    database.close();
  }
}
