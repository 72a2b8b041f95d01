import { DatabaseSync } from 'node:sqlite';
import { SqliteSessionStore, type SqliteDatabase } from '@holdfast/store-sqlite';

/** The longest time for which a frozen process may lock the file. */
const BUSY_MS = 30_000;

/** A store in the file at a path. `midWrite` is called when a transaction is about to be committed. */
export async function openSqlite(path: string, midWrite?: () => void): Promise<SqliteSessionStore> {
  const database = new DatabaseSync(path);
  database.exec(`PRAGMA busy_timeout = ${BUSY_MS}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL`);
  return new SqliteSessionStore({ database: midWrite ? interrupted(database, midWrite) : database });
}

function interrupted(database: SqliteDatabase, midWrite: () => void): SqliteDatabase {
  return {
    exec: (sql) => database.exec(sql),
    prepare(sql) {
      const statement = database.prepare(sql);
      if (sql !== 'COMMIT') return statement;
      return {
        get: (parameters) => statement.get(parameters),
        all: (parameters) => statement.all(parameters),
        run(parameters) {
          midWrite();
          return statement.run(parameters);
        },
      };
    },
  };
}
