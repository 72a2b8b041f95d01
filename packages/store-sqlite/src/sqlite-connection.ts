import { rollBack } from './schema.ts';
import type { SqliteDatabase, SqliteParameters, SqliteRow, SqliteStatement } from './sqlite-database.ts';
import { attempt, unavailable } from './sqlite-errors.ts';
import type { SqliteAttempt } from './sqlite-errors.ts';

/**
 * A database in use: statements that are prepared once, and transactions. What SQLite throws comes out as an error of
 * the store contract.
 */
export class SqliteConnection {
  /** The database's name in messages. */
  readonly location: string;
  /** What closing does to the database; nothing to one that was passed in. */
  closeDatabase: () => void = () => undefined;
  /** Is the database still the one that others open under its name? */
  isInPlace: () => boolean = () => true;
  private readonly database: SqliteDatabase;
  private readonly statements = new Map<string, SqliteStatement>();
  private isClosed = false;

  constructor(database: SqliteDatabase, location: string) {
    this.database = database;
    this.location = location;
  }

  /** Reads with one statement. */
  read<T>(act: () => T): T {
    return this.attempt({ isWrite: false }, act);
  }

  /** Reads with several statements as of one moment. */
  readTogether<T>(act: () => T): T {
    return this.attempt({ isWrite: false }, () => this.transaction('BEGIN', act));
  }

  /** Writes all of it, or nothing when it throws. Waits for other writers beforehand, so that none comes between. */
  write<T>(written: SqliteAttempt['written'], act: () => T): T {
    return this.attempt({ isWrite: true, written }, () => this.transaction('BEGIN IMMEDIATE', act));
  }

  /** The first row. */
  get(sql: string, parameters: SqliteParameters): SqliteRow | undefined {
    return this.statement(sql).get(parameters);
  }

  all(sql: string, parameters: SqliteParameters): readonly SqliteRow[] {
    return this.statement(sql).all(parameters);
  }

  /** How many rows it changed. */
  run(sql: string, parameters: SqliteParameters): number {
    return Number(this.statement(sql).run(parameters).changes);
  }

  /** All that is asked for afterwards is refused. */
  close(): void {
    this.isClosed = true;
    this.statements.clear();
    attempt({ location: this.location, isWrite: false }, this.closeDatabase);
  }

  /** A transaction that could not begin is not ended: another one may be open, of the owner of the database. */
  private transaction<T>(begin: 'BEGIN' | 'BEGIN IMMEDIATE', act: () => T): T {
    this.run(begin, {});
    try {
      const result = act();
      this.run('COMMIT', {});
      return result;
    } catch (error) {
      rollBack(this.database);
      throw error;
    }
  }

  private attempt<T>(what: Omit<SqliteAttempt, 'location'>, act: () => T): T {
    const { location } = this;
    if (this.isClosed) throw unavailable(`The session store ${location} is closed: open it again.`);
    if (!this.isInPlace()) {
      const advice = 'Nothing was written: put it back, or open the store again';
      throw unavailable(
        `The session database ${location} was deleted or replaced while it was open. ${advice}.`,
      );
    }
    return attempt({ ...what, location }, act);
  }

  private statement(sql: string): SqliteStatement {
    let statement = this.statements.get(sql);
    if (statement === undefined) {
      statement = this.database.prepare(sql);
      this.statements.set(sql, statement);
    }
    return statement;
  }
}
