import { randomUUID } from 'node:crypto';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { systemClock, type Clock, type Instant } from '@holdfast/core';
import type { FollowUp, LockedSession, WakeUp, WakeUpQueue } from '@holdfast/core/engine';

const SCHEMA = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;             -- a power cut can drop the last wake-ups: a sweep repairs that
  CREATE TABLE IF NOT EXISTS wake_ups (
    number INTEGER PRIMARY KEY,            -- the order of the wake-ups
    session TEXT NOT NULL,                 -- all names are JSON, because they are any strings
    at REAL NOT NULL,                      -- no worker takes the wake-up before this instant
    lane TEXT NOT NULL,                    -- 'null' without a lane
    priority REAL NOT NULL,
    group_name TEXT NOT NULL,                    -- the group, or 'null'
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
  CREATE UNIQUE INDEX IF NOT EXISTS by_turn ON lanes (turn, lane);
  CREATE TABLE IF NOT EXISTS groups (
    lane TEXT NOT NULL,
    group_name TEXT NOT NULL,
    turn INTEGER NOT NULL,                 -- among equal priorities, the group with the lowest turn is next
    PRIMARY KEY (lane, group_name)
  );`;

/** The first wake-up, in the order of turns and priorities, that is due and whose session no worker has locked. */
const NEXT = `
  SELECT session, next.lane, priority, next.group_name
  FROM lanes CROSS JOIN wake_ups AS next ON next.lane = lanes.lane
  LEFT JOIN groups ON groups.lane = next.lane AND groups.group_name = next.group_name
  WHERE paused_until <= :now AND at <= :now AND NOT EXISTS (
    SELECT 1 FROM wake_ups AS locked WHERE locked.session = next.session AND locked.locked_until > :now
  ) ORDER BY lanes.turn, lanes.lane, priority DESC, coalesce(groups.turn, 0), number LIMIT 1`;

const END_TURN = `INSERT INTO groups VALUES (?, ?, 1) ON CONFLICT (lane, group_name) DO UPDATE
  SET turn = (SELECT max(turn) + 1 FROM groups AS others WHERE others.lane = groups.lane)`;

const PAUSE = `INSERT INTO lanes (lane, paused_until) VALUES (?, ?)
  ON CONFLICT (lane) DO UPDATE SET paused_until = max(paused_until, excluded.paused_until)`;

export interface TableOptions {
  readonly clock?: Clock;
  /** A worker that died loses its sessions after this time. */
  readonly lockSeconds?: number;
  /** How often a worker looks for wake-ups of other processes. */
  readonly pollSeconds?: number;
}

export interface TableLock extends LockedSession {
  readonly id: string;
}

/** The wake-ups of all sessions, in a file that any number of processes share. */
export class WakeUpTable implements WakeUpQueue<TableLock> {
  readonly lockSeconds: number;
  protected readonly database: DatabaseSync;
  private readonly clock: Clock;
  private readonly pollSeconds: number;
  /** Resolves at the first change in this process since the last `take`. */
  protected changed = Promise.withResolvers<void>();

  constructor(path: string, { clock = systemClock, lockSeconds = 30, pollSeconds = 0.5 }: TableOptions = {}) {
    this.clock = clock;
    this.lockSeconds = lockSeconds;
    this.pollSeconds = pollSeconds;
    this.database = new DatabaseSync(path, { timeout: 5_000 }); // milliseconds to wait for other processes
    this.database.exec(SCHEMA);
  }

  async add(wakeUps: readonly WakeUp[]) {
    this.atomically(() => wakeUps.forEach((wakeUp) => this.store(wakeUp)));
    this.changed.resolve();
  }

  /** The lock covers the wake-ups until now, not those that arrive later. */
  async take(): Promise<TableLock | undefined> {
    this.changed = Promise.withResolvers();
    const now = this.clock.now();
    const next = this.database.prepare(NEXT);
    if (next.get({ now }) === undefined) return undefined; // without a write lock of the file
    return this.atomically(() => {
      const { session, lane, priority, group_name: group } = next.get({ now }) ?? {};
      if (session === undefined || lane === undefined || group === undefined) return undefined;
      const id = randomUUID();
      this.run('UPDATE lanes SET turn = (SELECT max(turn) + 1 FROM lanes) WHERE lane = ?', lane);
      this.run(END_TURN, lane, group);
      const lock = 'UPDATE wake_ups SET lock = ?, locked_until = ? WHERE session = ? AND at <= ?';
      this.run(lock, id, this.lockEnd(), session, now);
      const schedule = { lane: textOf(lane), priority: Number(priority), group: textOf(group) };
      return { id, sessionId: textOf(session) ?? '', schedule };
    });
  }

  /** Another process adds wake-ups without a signal to this one, so it looks again after `pollSeconds`. */
  async wait(signal: AbortSignal) {
    const { promise, resolve } = this.changed;
    const milliseconds = this.nextInstant() - this.clock.now();
    const timer = setTimeout(resolve, Math.min(milliseconds, this.pollSeconds * 1_000));
    const cancel = this.clock.after?.(milliseconds, resolve);
    const abort = () => resolve();
    signal.addEventListener('abort', abort);
    await promise;
    signal.removeEventListener('abort', abort);
    clearTimeout(timer);
    cancel?.();
  }

  /** Without changed rows, another worker has taken the session. */
  async renew(locks: readonly TableLock[]) {
    const renew = 'UPDATE wake_ups SET locked_until = ? WHERE lock = ?';
    return locks.filter(({ id }) => this.run(renew, this.lockEnd(), id) === 0);
  }

  /** One transaction stores the wake-ups that follow, and removes those that the lock covers. */
  async finish({ id }: TableLock, { wakeUps, pause }: FollowUp) {
    this.atomically(() => {
      for (const wakeUp of wakeUps) this.store(wakeUp);
      if (pause) this.run(PAUSE, JSON.stringify(pause.lane), pause.until);
      this.run('DELETE FROM wake_ups WHERE lock = ?', id);
    });
    this.changed.resolve();
  }

  close() {
    this.database.close();
  }

  protected store({ sessionId, at, lane, priority = 0, group }: WakeUp) {
    const [session, inLane, inGroup] = [sessionId, lane, group].map((name) =>
      JSON.stringify(name ?? null),
    ) as [string, string, string];
    this.run('INSERT OR IGNORE INTO lanes (lane) VALUES (?)', inLane);
    const insert =
      'INSERT OR IGNORE INTO wake_ups (session, at, lane, priority, group_name) VALUES (?, ?, ?, ?, ?)';
    this.run(insert, session, at, inLane, priority, inGroup);
  }

  protected run(sql: string, ...values: readonly SQLInputValue[]) {
    return this.database.prepare(sql).run(...values).changes;
  }

  private lockEnd(): Instant {
    return this.clock.now() + this.lockSeconds * 1_000;
  }

  private nextInstant(): Instant {
    const { at } =
      this.database.prepare('SELECT min(at) AS at FROM wake_ups WHERE at > ?').get(this.clock.now()) ?? {};
    return typeof at === 'number' ? at : Infinity;
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

const textOf = (json: unknown): string | undefined => JSON.parse(String(json)) ?? undefined;
