/** A value in a column. */
export type SqliteValue = null | number | bigint | string | Uint8Array;
/** One row, by column name. */
export type SqliteRow = Readonly<Record<string, SqliteValue>>;
/** The values of a statement's named parameters, by name. */
export type SqliteParameters = Record<string, SqliteValue>;

/** The members of a `StatementSync` that the store uses. */
export interface SqliteStatement {
  /** Returns the first row, or `undefined` without a row. */
  get(parameters: SqliteParameters): SqliteRow | undefined;
  /** Returns all rows. */
  all(parameters: SqliteParameters): readonly SqliteRow[];
  /** Executes the statement and returns the number of changed rows. */
  run(parameters: SqliteParameters): { readonly changes: number | bigint };
}

/** The members of a `DatabaseSync` of `node:sqlite` that the store uses. */
export interface SqliteDatabase {
  /** Executes SQL that returns no rows. */
  exec(sql: string): void;
  /** Prepares a statement, which can be executed many times. */
  prepare(sql: string): SqliteStatement;
}
