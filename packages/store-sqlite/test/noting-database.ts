import type { DatabaseSync } from 'node:sqlite';
import type { SqliteDatabase, SqliteParameters } from '@holdfast/store-sqlite';

/** A statement that was executed. */
export interface AskedSql {
  readonly sql: string;
  readonly parameters: SqliteParameters;
}

/** A database that records the executed statements. */
export function notingDatabase(database: DatabaseSync, asked: AskedSql[]): SqliteDatabase {
  return {
    exec: (sql) => database.exec(sql),
    prepare(sql) {
      const statement = database.prepare(sql);
      const note = (parameters: SqliteParameters): SqliteParameters => {
        asked.push({ sql, parameters });
        return parameters;
      };
      return {
        get: (parameters) => statement.get(note(parameters)),
        all: (parameters) => statement.all(note(parameters)),
        run: (parameters) => statement.run(note(parameters)),
      };
    },
  };
}
