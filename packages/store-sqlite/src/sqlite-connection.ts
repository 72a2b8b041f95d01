import { fileIdentityCheck, isOwnDatabase, prepareDatabase } from './open-database.ts';
import { rollBack, type DatabaseLayout } from './schema.ts';
import type { SqliteDatabase, SqliteParameters, SqliteRow, SqliteStatement } from './sqlite-database.ts';
import { withStoreErrors, unavailable, type MeasuredWrite } from './sqlite-errors.ts';

/**
 * Wraps an open database with cached statements and transactions. Its methods throw SQLite errors as errors of the store
 * contract.
 */
export class SqliteConnection {
  /** The database's name in messages. */
  readonly location: string;
  /** True while the path of the database still names the opened file. */
  private readonly isSameFile: () => boolean;
  private readonly database: SqliteDatabase;
  private readonly statements = new Map<string, SqliteStatement>();
  private isClosed = false;

  /** Creates the schema in the database, unless it is there. @throws as `prepareDatabase`. */
  constructor(database: SqliteDatabase, layout: DatabaseLayout) {
    this.database = database;
    this.location = prepareDatabase(database, layout);
    this.isSameFile = isOwnDatabase(database) ? fileIdentityCheck(this.location) : () => true;
  }

  /** Calls a function that reads. */
  read<T>(act: () => T): T {
    this.check();
    return withStoreErrors({ location: this.location, kind: 'read' }, act);
  }

  /** Within `read`: calls a function whose statements all read the same moment. */
  inReadTransaction<T>(act: () => T): T {
    this.run('BEGIN', {});
    return this.orRollBack(() => {
      const result = act();
      this.run('COMMIT', {});
      return result;
    });
  }

  /** Calls a function that writes, in one transaction. When the function throws, rolls the transaction back. */
  write<T>(act: () => T): T {
    this.begin();
    return this.orRollBack(() => {
      const result = this.execute(act);
      this.commit();
      return result;
    });
  }

  /** Begins a write transaction. Waits for other writers, up to the busy timeout. */
  begin(): void {
    this.check();
    this.execute(() => this.run('BEGIN IMMEDIATE', {}));
  }

  /** Within a write transaction: calls a function that writes. */
  execute<T>(act: () => T, written?: MeasuredWrite): T {
    return withStoreErrors({ location: this.location, kind: 'write', written }, act);
  }

  /** Commits the write transaction. @throws StoreUnavailableError; the write may have been done if it is ambiguous. */
  commit(): void {
    withStoreErrors({ location: this.location, kind: 'commit' }, () => this.run('COMMIT', {}));
  }

  /** Rolls the transaction back. Does not throw. */
  rollBack(): void {
    rollBack(this.database);
  }

  /** Opens a savepoint, to which `closeSavepoint` can roll back. */
  openSavepoint(): void {
    this.execute(() => this.run('SAVEPOINT part', {}));
  }

  /**
   * Closes the savepoint, and rolls back to it unless `isKept`.
   * @throws StoreUnavailableError when SQLite has rolled back the whole transaction by itself.
   */
  closeSavepoint(isKept: boolean): void {
    this.execute(() => {
      if (!isKept) this.run('ROLLBACK TO part', {});
      this.run('RELEASE part', {});
    });
  }

  /** Returns the first row. */
  get(sql: string, parameters: SqliteParameters): SqliteRow | undefined {
    return this.statement(sql).get(parameters);
  }

  all(sql: string, parameters: SqliteParameters): readonly SqliteRow[] {
    return this.statement(sql).all(parameters);
  }

  /** Returns the number of changed rows. */
  run(sql: string, parameters: SqliteParameters): number {
    return Number(this.statement(sql).run(parameters).changes);
  }

  /** Closes the connection, and a database that this package opened. Later reads and writes throw a StoreUnavailableError. */
  close(): void {
    this.isClosed = true;
    this.statements.clear();
    const { database, location } = this;
    if (isOwnDatabase(database)) withStoreErrors({ location, kind: 'read' }, () => database.close());
  }

  private orRollBack<T>(act: () => T): T {
    try {
      return act();
    } catch (error) {
      this.rollBack();
      throw error;
    }
  }

  private check(): void {
    const { location } = this;
    if (this.isClosed) throw unavailable(`The store ${location} is closed. Open the store again.`);
    if (this.isSameFile()) return;
    const advice = 'Restore the file, or open the store again';
    throw unavailable(
      `The database ${location} was deleted or replaced while it was open, and nothing was written. ${advice}.`,
    );
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
