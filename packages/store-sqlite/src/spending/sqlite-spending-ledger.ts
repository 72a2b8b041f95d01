import { systemClock } from '@holdfast/core';
import {
  BackedSpendingLedger,
  KEEP_IDS_SECONDS,
  spendingOptionChecks,
  type SpendingLedgerOptions,
} from '@holdfast/core/spending';
import { databaseChecks, openOnFile } from '../database-options.ts';
import { SqliteConnection } from '../sqlite-connection.ts';
import type { SqliteDatabase } from '../sqlite-database.ts';
import { LEDGER_LAYOUT } from './ledger-layout.ts';
import { SqliteSpendingBackend } from './sqlite-spending-backend.ts';

/** The options of a ledger that uses an open database. */
export interface SqliteSpendingLedgerOptions extends SpendingLedgerOptions {
  /** An open `DatabaseSync`, empty or with the ledger of this package. `close()` does not close it. */
  readonly database: SqliteDatabase;
}

/** The options of a ledger that opens its own database. */
export interface OpenSqliteLedgerOptions extends SpendingLedgerOptions {
  /**
   * The path of the file, which holds the ledger alone: sessions need a file of their own. The ledger creates the file and
   * its folder when they are missing. With `:memory:`, the amounts exist until the ledger is closed.
   */
  readonly path: string;
  /**
   * The seconds that the ledger waits for another writer of the same file, default 5. The wait blocks the event loop.
   */
  readonly busyTimeoutSeconds?: number | undefined;
}

const checks = databaseChecks<SpendingLedgerOptions>('SqliteSpendingLedger', spendingOptionChecks);

/**
 * Counts in one SQLite file what owners spend. The processes of one machine can share the file.
 *
 * @example
 * const ledger = await SqliteSpendingLedger.open({ path: 'data/spending.db' });
 */
export class SqliteSpendingLedger extends BackedSpendingLedger {
  /**
   * Creates a ledger that uses an open database. Creates the tables in an empty database.
   * @throws StateFormatError for a database of another application or layout, which stays unchanged;
   * StoreUnavailableError when the database cannot be read or written; RangeError or TypeError `ARGUMENT_INVALID` for an
   * unknown option or an invalid value.
   */
  constructor(options: SqliteSpendingLedgerOptions) {
    const { database, clock = systemClock, keepIdsSeconds = KEEP_IDS_SECONDS } = checks.ofNew(options);
    const connection = new SqliteConnection(database, LEDGER_LAYOUT);
    super(new SqliteSpendingBackend(connection, { clock, keepIds: keepIdsSeconds * 1_000 }));
  }

  /**
   * Opens a database file and creates a ledger that uses it. `close()` closes the file.
   * @throws StateFormatError for a file of another application or layout, which stays unchanged; StoreUnavailableError
   * when the file cannot be opened; RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or an invalid value.
   */
  static open(options: OpenSqliteLedgerOptions): Promise<SqliteSpendingLedger> {
    return openOnFile(checks, options, LEDGER_LAYOUT, (given) => new SqliteSpendingLedger(given));
  }
}
