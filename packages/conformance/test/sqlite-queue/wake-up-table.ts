import { DatabaseSync } from 'node:sqlite';
import type { Instant } from '@holdfast/core';
import type { AdvanceOutcome, Schedule } from '@holdfast/core/engine';

const SCHEMA = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;             -- a power cut can drop the last wake-ups: a sweep repairs that
  CREATE TABLE IF NOT EXISTS wake_ups (
    number INTEGER PRIMARY KEY,            -- the order of the wake-ups
    session TEXT NOT NULL,                 -- as JSON, because a session id is any string
    at REAL NOT NULL,                      -- no worker takes the wake-up before this instant
    lane TEXT NOT NULL,
    priority REAL NOT NULL,
    lock TEXT,                             -- the lock of the worker that took the wake-up
    locked_until REAL NOT NULL DEFAULT 0   -- after this instant another worker can take it
  );
  CREATE UNIQUE INDEX IF NOT EXISTS waiting ON wake_ups (session, at) WHERE lock IS NULL;
  CREATE INDEX IF NOT EXISTS in_order ON wake_ups (lane, priority DESC, number);
  CREATE INDEX IF NOT EXISTS by_session ON wake_ups (session, locked_until);
  CREATE INDEX IF NOT EXISTS by_instant ON wake_ups (at);
  CREATE TABLE IF NOT EXISTS lanes (
    lane TEXT NOT NULL PRIMARY KEY,
    turn INTEGER NOT NULL DEFAULT 0,       -- the lane with the lowest turn is next
    paused_until REAL NOT NULL DEFAULT 0
  );
  CREATE UNIQUE INDEX IF NOT EXISTS by_turn ON lanes (turn, lane);`;

/** The first wake-up, in the order of turns and priorities, that is due and whose session no worker has locked. */
const NEXT = `
  SELECT session, lanes.lane FROM lanes CROSS JOIN wake_ups AS next ON next.lane = lanes.lane
  WHERE paused_until <= :now AND at <= :now AND NOT EXISTS (
    SELECT 1 FROM wake_ups AS locked WHERE locked.session = next.session AND locked.locked_until > :now
  ) ORDER BY turn, lanes.lane, priority DESC, number LIMIT 1`;

const PAUSE = `INSERT INTO lanes (lane, paused_until) VALUES (?, ?)
  ON CONFLICT (lane) DO UPDATE SET paused_until = max(paused_until, excluded.paused_until)`;

export interface WakeUp extends Schedule {
  readonly sessionId: string;
  readonly at: Instant;
}

/** The queue: the wake-ups of all sessions, in a file that any number of processes share. */
export class WakeUpTable {
  protected readonly database: DatabaseSync;

  constructor(path: string) {
    this.database = new DatabaseSync(path, { timeout: 5_000 }); // milliseconds to wait for other processes
    this.database.exec(SCHEMA);
  }

  /** Stores a wake-up. A wake-up of the same session at the same instant is merged with it. */
  add({ sessionId, at, lane = '', priority = 0 }: WakeUp): void {
    this.run('INSERT OR IGNORE INTO lanes (lane) VALUES (?)', lane);
    const insert = 'INSERT OR IGNORE INTO wake_ups (session, at, lane, priority) VALUES (?, ?, ?, ?)';
    this.run(insert, JSON.stringify(sessionId), at, lane, priority);
  }

  /** Locks the next session and returns its id. The lock covers the wake-ups until now, not those that arrive later. */
  take(now: Instant, lock: string, lockedUntil: Instant): string | undefined {
    const next = this.database.prepare(NEXT);
    if (next.get({ now }) === undefined) return undefined; // without a write lock of the file
    return this.atomically(() => {
      const { session, lane } = next.get({ now }) ?? {};
      if (typeof session !== 'string' || typeof lane !== 'string') return undefined;
      this.run('UPDATE lanes SET turn = (SELECT max(turn) + 1 FROM lanes) WHERE lane = ?', lane);
      const take = 'UPDATE wake_ups SET lock = ?, locked_until = ? WHERE session = ? AND at <= ?';
      this.run(take, lock, lockedUntil, session, now);
      return String(JSON.parse(session));
    });
  }

  /** Returns false if another worker has taken the session. */
  renew(lock: string, lockedUntil: Instant): boolean {
    return this.run('UPDATE wake_ups SET locked_until = ? WHERE lock = ?', lockedUntil, lock) > 0;
  }

  /** Ends a lock: in one transaction, stores the wake-ups that follow and removes those that the lock covers. */
  finish(lock: string, following: readonly WakeUp[], outcome?: AdvanceOutcome): void {
    this.atomically(() => {
      for (const wakeUp of following) this.add(wakeUp);
      if (outcome?.type === 'throttled') this.run(PAUSE, outcome.lane, outcome.until);
      this.run('DELETE FROM wake_ups WHERE lock = ?', lock);
    });
  }

  /** Returns the next instant at which a wake-up becomes due. */
  nextInstant(now: Instant): Instant | undefined {
    const row = this.database.prepare('SELECT min(at) AS at FROM wake_ups WHERE at > ?').get(now);
    return row?.['at'] === null ? undefined : Number(row?.['at']);
  }

  close(): void {
    this.database.close();
  }

  private run(sql: string, ...values: readonly (string | number)[]): number {
    return Number(this.database.prepare(sql).run(...values).changes);
  }

  private atomically<T>(act: () => T): T {
    this.database.exec('BEGIN IMMEDIATE');
    try {
      const result = act();
      this.database.exec('COMMIT');
      return result;
    } catch (error) {
      this.database.exec('ROLLBACK');
      throw error;
    }
  }
}
