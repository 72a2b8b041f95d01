import type { Clock, Instant } from '@holdfast/core';
import {
  MAX_NANO_DOLLARS,
  refusalOf,
  SPENDING_WINDOWS,
  windowsAt,
  windowsWith,
  type BackendReservation,
  type BackendSettlement,
  type CountedWindow,
  type CountedWindows,
  type NanoRefusal,
  type SpendingAccount,
  type SpendingBackend,
  type SpendingCall,
  type SpendingWindow,
} from '@holdfast/core/spending';
import { GroupCommit } from '../group-commit.ts';
import type { SqliteConnection } from '../sqlite-connection.ts';
import type { SqliteRow, SqliteValue } from '../sqlite-database.ts';

interface BackendOptions {
  readonly clock: Clock;
  /** The milliseconds for which the ids of settled calls are kept. */
  readonly keepIds: number;
}

/** Counts in an SQLite database. The writes of one iteration of the event loop share a transaction. */
export class SqliteSpendingBackend implements SpendingBackend {
  private readonly connection: SqliteConnection;
  private readonly commits: GroupCommit;
  private readonly clock: Clock;
  private readonly keepIds: number;

  constructor(connection: SqliteConnection, { clock, keepIds }: BackendOptions) {
    this.connection = connection;
    this.commits = new GroupCommit(connection);
    this.clock = clock;
    this.keepIds = keepIds;
  }

  reserve(reservation: BackendReservation): Promise<NanoRefusal | undefined> {
    return this.write((now) => {
      const { owner, inferenceId, amount, limits, expiresInSeconds } = reservation;
      const account = this.accountOf(owner, now);
      if (account && this.isKnown(account, inferenceId, now)) return undefined;
      const windows = windowsAt(account && windowsOf(account), now);
      const refusal = refusalOf(windows, { amount, reserved: this.reservedOf(account, now), limits });
      if (refusal) return refusal;
      this.connection.run(RESERVE, {
        account_key: this.saveAccount(owner, windows),
        inference_id: inferenceId,
        amount,
        expires_at: Math.ceil(now + expiresInSeconds * 1_000),
      });
      return undefined;
    });
  }

  settle({ owner, inferenceId, amount }: BackendSettlement): Promise<void> {
    return this.write((now) => {
      const account = this.accountOf(owner, now);
      if (account && this.isSettled(account, inferenceId, now)) return;
      const windows = windowsAt(account && windowsOf(account), now);
      const account_key = this.saveAccount(owner, windowsWith(windows, amount));
      const call = { account_key, inference_id: inferenceId };
      this.connection.run(RELEASE, call);
      this.connection.run(SETTLE, { ...call, keep_until: Math.ceil(now + this.keepIds) });
      this.connection.run(FORGET, { now });
    });
  }

  release({ owner, inferenceId }: SpendingCall): Promise<void> {
    return this.write((now) => {
      const account = this.accountOf(owner, now);
      if (account) this.connection.run(RELEASE, callOf(account, inferenceId));
    });
  }

  async read(owner: string): Promise<SpendingAccount> {
    const { nextBatch } = this.commits;
    if (nextBatch) await nextBatch;
    return this.connection.read(() => {
      const now = this.clock.now();
      const account = this.connection.get(SELECT_ACCOUNT, { owner });
      const windows = account && windowsAt(windowsOf(account), now);
      return { windows, reserved: this.reservedOf(account, now) };
    });
  }

  async close(): Promise<void> {
    this.commits.flush();
    this.connection.close();
  }

  /** Calls a function in the next batch, and returns its result after the commit. */
  private async write<T>(act: (now: Instant) => T): Promise<T> {
    const results: T[] = [];
    await this.commits.write({
      act: () => {
        results[0] = act(this.clock.now());
        return 'done';
      },
    });
    return results[0] as T;
  }

  /** The row of an account, without its expired reservations. */
  private accountOf(owner: string, now: Instant): SqliteRow | undefined {
    const account = this.connection.get(SELECT_ACCOUNT, { owner });
    if (account) this.connection.run(EXPIRE, { account_key: keyOf(account), now });
    return account;
  }

  private isKnown(account: SqliteRow, inferenceId: string, now: Instant): boolean {
    const isReserved = this.connection.get(SELECT_RESERVATION, callOf(account, inferenceId)) !== undefined;
    return isReserved || this.isSettled(account, inferenceId, now);
  }

  private isSettled(account: SqliteRow, inferenceId: string, now: Instant): boolean {
    return this.connection.get(SELECT_SETTLED, { ...callOf(account, inferenceId), now }) !== undefined;
  }

  private reservedOf(account: SqliteRow | undefined, now: Instant): number {
    if (account === undefined) return 0;
    return Number(this.connection.get(SUM_RESERVED, { account_key: keyOf(account), now })?.['reserved']);
  }

  /** Writes the windows of an account, and returns its key. */
  private saveAccount(owner: string, windows: CountedWindows): SqliteValue {
    const columns = SPENDING_WINDOWS.flatMap((window) => [
      [`${window}_since`, windows[window].since] as const,
      [`${window}_spent`, windows[window].spent] as const,
    ]);
    const row = this.connection.get(SAVE_ACCOUNT, { owner, ...Object.fromEntries(columns) });
    return row ? keyOf(row) : null;
  }
}

function keyOf(account: SqliteRow): SqliteValue {
  return account['account_key'] ?? null;
}

function callOf(account: SqliteRow, inferenceId: string): Record<string, SqliteValue> {
  return { account_key: keyOf(account), inference_id: inferenceId };
}

function windowsOf(account: SqliteRow): CountedWindows {
  const counted = (window: SpendingWindow): CountedWindow => ({
    since: Number(account[`${window}_since`]),
    spent: Number(account[`${window}_spent`]),
  });
  return { hour: counted('hour'), day: counted('day'), month: counted('month'), total: counted('total') };
}

const COLUMNS = SPENDING_WINDOWS.flatMap((window) => [`${window}_since`, `${window}_spent`]);
const SELECT_ACCOUNT = `SELECT account_key, ${COLUMNS.join(', ')} FROM accounts WHERE owner = :owner`;
const SAVE_ACCOUNT = `INSERT INTO accounts (owner, ${COLUMNS.join(', ')})
  VALUES (:owner, ${COLUMNS.map((name) => `:${name}`).join(', ')})
  ON CONFLICT (owner) DO UPDATE SET ${COLUMNS.map((name) => `${name} = excluded.${name}`).join(', ')}
  RETURNING account_key`;
const OF_CALL = 'WHERE account_key = :account_key AND inference_id = :inference_id';
const SELECT_RESERVATION = `SELECT amount FROM reservations ${OF_CALL}`;
const RELEASE = `DELETE FROM reservations ${OF_CALL}`;
const EXPIRE = 'DELETE FROM reservations WHERE account_key = :account_key AND expires_at <= :now';
const RESERVE = `INSERT INTO reservations (account_key, inference_id, amount, expires_at)
  VALUES (:account_key, :inference_id, :amount, :expires_at)`;
const SUM_RESERVED = `SELECT CAST(min(total(amount), ${MAX_NANO_DOLLARS}.0) AS INTEGER) AS reserved FROM reservations
  WHERE account_key = :account_key AND expires_at > :now`;
const SELECT_SETTLED = `SELECT keep_until FROM settled_calls ${OF_CALL} AND keep_until > :now`;
const SETTLE = `INSERT INTO settled_calls (account_key, inference_id, keep_until)
  VALUES (:account_key, :inference_id, :keep_until)
  ON CONFLICT (account_key, inference_id) DO UPDATE SET keep_until = excluded.keep_until`;
/** Each settlement removes two ids that need not be kept any longer, so that their number does not grow. */
const FORGET = `DELETE FROM settled_calls WHERE rowid IN
  (SELECT rowid FROM settled_calls WHERE keep_until <= :now ORDER BY keep_until LIMIT 2)`;
