import { rollBack } from './schema.ts';
import type { SqliteDatabase, SqliteParameters, SqliteRow, SqliteStatement } from './sqlite-database.ts';
import { withStoreErrors, unavailable } from './sqlite-errors.ts';
import type { MeasuredWrite } from './sqlite-errors.ts';

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
  isSameFile: () => boolean = () => true;
  private readonly database: SqliteDatabase;
  private readonly statements = new Map<string, SqliteStatement>();
  private isClosed = false;

  constructor(database: SqliteDatabase, location: string) {
    this.database = database;
    this.location = location;
  }

  /** Reads. */
  read<T>(act: () => T): T {
    this.check();
    return withStoreErrors({ location: this.location, kind: 'read' }, act);
  }

  /** Within a read: several statements as of one moment. */
  inReadTransaction<T>(act: () => T): T {
    this.run('BEGIN', {});
    return this.orRollBack(() => {
      const result = act();
      this.run('COMMIT', {});
      return result;
    });
  }

  /** Writes all of it, or nothing when it throws. */
  write<T>(act: () => T): T {
    this.begin();
    return this.orRollBack(() => {
      const result = this.execute(act);
      this.commit();
      return result;
    });
  }

  /** Begins to write. Waits for other writers first, so that none comes between. */
  begin(): void {
    this.check();
    this.execute(() => this.run('BEGIN IMMEDIATE', {}));
  }

  /** Does part of a write. */
  execute<T>(act: () => T, written?: MeasuredWrite): T {
    return withStoreErrors({ location: this.location, kind: 'write', written }, act);
  }

  /** Ends a write. When it throws, the write may have been done unless the error says that it was not. */
  commit(): void {
    withStoreErrors({ location: this.location, kind: 'commit' }, () => this.run('COMMIT', {}));
  }

  /** Ends a transaction without having done anything. */
  rollBack(): void {
    rollBack(this.database);
  }

  /** Within a write: what is written from here on can be undone without the rest. */
  openSavepoint(): void {
    this.execute(() => this.run('SAVEPOINT part', {}));
  }

  /** Keeps or undoes what was written since the savepoint. Throws when SQLite has undone the whole write by itself. */
  closeSavepoint(isKept: boolean): void {
    this.execute(() => {
      if (!isKept) this.run('ROLLBACK TO part', {});
      this.run('RELEASE part', {});
    });
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
    withStoreErrors({ location: this.location, kind: 'read' }, this.closeDatabase);
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
    if (this.isClosed) throw unavailable(`The session store ${location} is closed: open it again.`);
    if (this.isSameFile()) return;
    const advice = 'Nothing was written: put it back, or open the store again';
    throw unavailable(
      `The session database ${location} was deleted or replaced while it was open. ${advice}.`,
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
