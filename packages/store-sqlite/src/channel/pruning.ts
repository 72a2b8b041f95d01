import type { SqliteParameters } from '../sqlite-database.ts';

/** The time after which trimmed batches and notifications are removed. */
export const ROW_LIFETIME_MS = 5_000;
/** The time after which a tail that has not changed is removed. */
const TAIL_LIFETIME_MS = 600_000;
/** The time between two removals in all sessions, and the largest number of tails or notifications of each. */
const PAUSE_MS = 5_000;
const LIMIT = 200;

/** Removes what no reader needs. It removes a row some seconds late, so that every process can read it before. */
export class Pruning {
  private readonly run: (sql: string, parameters: SqliteParameters) => unknown;
  private nextAt = 0;

  constructor(run: (sql: string, parameters: SqliteParameters) => unknown) {
    this.run = run;
  }

  /** Removes batches of a session before its tail. */
  removeTrimmed(sessionId: string, first: number, now: number): void {
    this.run(
      `DELETE FROM log
        WHERE session_id = :sessionId AND kind = 'batch' AND id < :first AND created_at < :before`,
      { sessionId, first, before: now - ROW_LIFETIME_MS },
    );
  }

  /** Removes notifications and unchanged tails of all sessions, unless it has done so some seconds ago. */
  prune(now: number): void {
    if (now < this.nextAt) return;
    this.nextAt = now + PAUSE_MS;
    this.run(
      `DELETE FROM log WHERE id IN (
        SELECT id FROM log WHERE kind = 'notification' AND created_at < :before ORDER BY created_at LIMIT ${LIMIT}
      )`,
      { before: now - ROW_LIFETIME_MS },
    );
    const before = now - TAIL_LIFETIME_MS;
    const unchanged = `SELECT session_id FROM tails WHERE changed_at < :before ORDER BY changed_at LIMIT ${LIMIT}`;
    this.run(`DELETE FROM log WHERE kind = 'batch' AND session_id IN (${unchanged})`, { before });
    this.run(`DELETE FROM tails WHERE session_id IN (${unchanged})`, { before });
  }
}
