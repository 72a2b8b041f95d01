/** A value in a column. */
export type SqliteValue = null | number | bigint | string | Uint8Array;
/** One row, by column name. */
export type SqliteRow = Readonly<Record<string, SqliteValue>>;
/** What a statement's named parameters stand for. */
export type SqliteParameters = Record<string, SqliteValue>;

/** The members of a `StatementSync` that the store uses. */
export interface SqliteStatement {
  /** The first row, `undefined` when there is none. */
  get(parameters: SqliteParameters): SqliteRow | undefined;
  /** All rows. */
  all(parameters: SqliteParameters): readonly SqliteRow[];
  /** Carries the statement out and tells how many rows it changed. */
  run(parameters: SqliteParameters): { readonly changes: number | bigint };
}

/** The members of a `DatabaseSync` of `node:sqlite` that the store uses. */
export interface SqliteDatabase {
  /** Carries out SQL that returns nothing. */
  exec(sql: string): void;
  /** Makes a statement that can be carried out many times. */
  prepare(sql: string): SqliteStatement;
}
