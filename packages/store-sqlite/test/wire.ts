import type { DatabaseSync } from 'node:sqlite';
import type { SqliteDatabase, SqliteParameters, SqliteRow } from '@holdfast/store-sqlite';
import type { Fault, StoreCost, StoreFaults } from '@holdfast/conformance';

/** Extended result codes of SQLite, and their messages. */
const ERRORS: Readonly<Record<Fault, readonly [errcode: number, errstr: string]>> = {
  loseReply: [10 + (4 << 8), 'disk I/O error'],
  cut: [10 + (3 << 8), 'disk I/O error'],
  throttle: [5, 'database is locked'],
};

/**
 * Wraps the database of a store, counts statements, values and visited rows, and makes a statement fail. It puts a
 * function that counts its calls and reads the key of the row before the other conditions of each WHERE.
 */
export class Wire implements StoreFaults {
  readonly kinds: readonly Fault[] = ['loseReply', 'cut', 'throttle'];
  private requests = 0;
  private bytes = 0;
  private visits = 0;
  private armed: { readonly fault: Fault; readonly request: number } | undefined;

  arm(fault: Fault, nth: number): void {
    this.armed = { fault, request: this.requests + nth };
  }

  disarm(): boolean {
    const isStruck = this.armed !== undefined && this.armed.request <= this.requests;
    this.armed = undefined;
    return isStruck;
  }

  readonly measure = async (): Promise<StoreCost> => ({
    requests: this.requests,
    bytes: this.bytes,
    work: this.visits,
  });

  to(database: DatabaseSync): SqliteDatabase {
    const visit = (): number => (this.visits += 1);
    database.function('visit', { deterministic: false }, visit);
    return {
      exec: (sql) => database.exec(sql),
      prepare: (sql) => {
        const statement = database.prepare(sql.replaceAll(/\bWHERE\b/gu, 'WHERE visit() AND'));
        const through =
          <T>(carryOut: (parameters: SqliteParameters) => T) =>
          (parameters: SqliteParameters): T =>
            this.send(sql, parameters, () => carryOut(parameters));
        return {
          get: through((parameters) => statement.get(parameters)),
          all: through((parameters) => statement.all(parameters)),
          run: through((parameters) => statement.run(parameters)),
        };
      },
    };
  }

  private send<T>(sql: string, parameters: SqliteParameters, carryOut: () => T): T {
    const fault = ++this.requests === this.armed?.request ? this.armed.fault : undefined;
    // A BEGIN that fails begins no transaction.
    const isDone = fault === undefined || (fault === 'loseReply' && !sql.startsWith('BEGIN'));
    const reply = isDone ? carryOut() : undefined;
    this.bytes += sizeOf(parameters) + sizeOf(reply);
    if (fault === undefined) return reply as T;
    const [errcode, errstr] = ERRORS[fault];
    throw Object.assign(new Error(errstr), { code: 'ERR_SQLITE_ERROR', errcode, errstr });
  }
}

function sizeOf(value: unknown): number {
  const rows = (Array.isArray(value) ? value : [value]) as readonly (SqliteRow | undefined)[];
  return rows
    .flatMap((row) => Object.values(row ?? {}))
    .reduce<number>((sum, column) => sum + (typeof column === 'string' ? Buffer.byteLength(column) : 8), 0);
}
