import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { rollBack, type DatabaseLayout } from '../schema.ts';
import { Pruning, ROW_LIFETIME_MS } from './pruning.ts';

/**
 * A tail is one row of `tails`, and its batches are rows of `log`. `first_id` is the first batch of the tail: batches before
 * it are trimmed. A batch has the id of the batch before it, so that a reader notices when batches were deleted. A
 * notification is a row of `log` too, so that one query reads all that is new. The `application_id` is "HolC" in ASCII.
 */
export const CHANNEL_LAYOUT: DatabaseLayout = {
  content: 'channel',
  applicationId: 0x486f6c43,
  version: 1,
  sql: `
    CREATE TABLE tails (
      session_id TEXT PRIMARY KEY,
      first_id INTEGER NOT NULL,
      last_id INTEGER NOT NULL,
      length INTEGER NOT NULL,
      changed_at INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX tails_changed ON tails (changed_at);
    CREATE TABLE log (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      session_id TEXT NOT NULL,
      kind TEXT NOT NULL,
      previous_id INTEGER NOT NULL,
      length INTEGER NOT NULL,
      created_at INTEGER NOT NULL,
      content TEXT NOT NULL
    ) STRICT;
    CREATE INDEX log_session ON log (session_id, kind, id);
    CREATE INDEX log_notifications ON log (created_at) WHERE kind = 'notification';`,
};

/** A batch of entries, or a notification. */
export type RowKind = 'batch' | 'notification';

/** A row of the log. */
export interface LogRow {
  readonly id: number;
  readonly sessionId: string;
  readonly kind: RowKind;
  /** The batch of the session before this one; 0 without one. */
  readonly previousId: number;
  /** The texts of the entries, in lines, or the text of the notification. */
  readonly content: string;
}

/** The tail of a session as it is now. */
export interface PresentTail {
  /** The last batch that was published; 0 without one. */
  readonly lastId: number;
  readonly contents: readonly string[];
}

/** When a tail has more entries than the first number, its oldest batches are removed, down to the second. */
const LONGEST_TAIL = 3_000;
const SHORTENED_TAIL = 2_000;

const COLUMNS = 'id, session_id AS sessionId, kind, previous_id AS previousId, content';

/** The tables of a channel. All methods are synchronous, and throw the errors of SQLite. */
export class ChannelLog {
  private readonly database: DatabaseSync;
  private readonly statements = new Map<string, StatementSync>();
  private readonly pruning: Pruning;

  constructor(database: DatabaseSync) {
    this.database = database;
    this.pruning = new Pruning((sql, parameters) => this.prepare(sql).run(parameters));
    // A power cut may lose what no longer matters then. The file stays intact.
    database.exec('PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY');
    database.exec(`CREATE TEMP TABLE watched (
      session_id TEXT NOT NULL, kind TEXT NOT NULL, PRIMARY KEY (session_id, kind)
    ) WITHOUT ROWID`);
  }

  /** The id of the last row that was ever added. */
  get lastId(): number {
    return Number(
      this.prepare(`SELECT seq AS id FROM main.sqlite_sequence WHERE name = 'log'`).get()?.['id'] ?? 0,
    );
  }

  publish(sessionId: string, texts: readonly string[], isTrimmed: boolean): void {
    this.write((now) => {
      const tail = this.prepare(
        'SELECT first_id, last_id, length FROM tails WHERE session_id = :sessionId',
      ).get({
        sessionId,
      });
      const before = { first: Number(tail?.['first_id']), last: Number(tail?.['last_id'] ?? 0) };
      const isNew = isTrimmed || tail === undefined;
      let length = (isNew ? 0 : Number(tail['length'])) + texts.length;
      const last = texts.length > 0 ? this.addBatch(sessionId, texts, before.last, now) : before.last;
      let first = isNew ? before.last + 1 : before.first;
      if (length > LONGEST_TAIL) ({ first, length } = this.shortened(sessionId, first));
      this.prepare(
        `INSERT INTO tails VALUES (:sessionId, :first, :last, :length, :now)
          ON CONFLICT (session_id) DO UPDATE
          SET first_id = :first, last_id = :last, length = :length, changed_at = :now`,
      ).run({ sessionId, first, last, length, now });
      this.pruning.removeTrimmed(sessionId, first, now);
    });
  }

  notify(sessionId: string, content: string): void {
    this.write((now) => {
      this.add({ sessionId, kind: 'notification', previousId: 0, length: 0, content, now });
    });
  }

  readTail(sessionId: string): PresentTail {
    const rows = this.prepare(
      `SELECT tails.last_id AS lastId, log.content FROM tails
        LEFT JOIN log ON log.session_id = tails.session_id AND log.kind = 'batch' AND log.id >= tails.first_id
        WHERE tails.session_id = :sessionId ORDER BY log.id`,
    ).all({ sessionId });
    const contents = rows.flatMap(({ content }) => (content === null ? [] : [String(content)]));
    return { lastId: Number(rows[0]?.['lastId'] ?? 0), contents };
  }

  /** The last notification of a session up to a row, unless it is older than some seconds. */
  lastNotification(sessionId: string, last: number): LogRow | undefined {
    const row = this.prepare(
      `SELECT ${COLUMNS} FROM log WHERE session_id = :sessionId AND kind = 'notification'
        AND id <= :last AND created_at >= :since ORDER BY id DESC LIMIT 1`,
    ).get({ sessionId, last, since: Date.now() - ROW_LIFETIME_MS });
    return row as unknown as LogRow | undefined;
  }

  /** Includes rows of a session in `read`, or no more. */
  watch(sessionId: string, kind: RowKind, isWatched: boolean): void {
    const sql = isWatched
      ? 'INSERT OR IGNORE INTO temp.watched VALUES (:sessionId, :kind)'
      : 'DELETE FROM temp.watched WHERE session_id = :sessionId AND kind = :kind';
    this.prepare(sql).run({ sessionId, kind });
  }

  /** The watched rows in a range of ids, without the first id and with the last. */
  read(after: number, last: number): readonly LogRow[] {
    // Without NOT INDEXED, SQLite could read each watched session by the index of sessions.
    const rows = this.prepare(
      `SELECT ${COLUMNS} FROM log NOT INDEXED WHERE id > :after AND id <= :last AND EXISTS (
        SELECT 1 FROM temp.watched WHERE watched.session_id = log.session_id AND watched.kind = log.kind
      ) ORDER BY id`,
    ).all({ after, last });
    return rows as unknown as readonly LogRow[];
  }

  close(): void {
    this.statements.clear();
    this.database.close();
  }

  private addBatch(sessionId: string, texts: readonly string[], previousId: number, now: number): number {
    const content = texts.join('\n');
    return this.add({ sessionId, kind: 'batch', previousId, length: texts.length, content, now });
  }

  private add(row: Omit<LogRow, 'id'> & { readonly length: number; readonly now: number }): number {
    const { lastInsertRowid } = this.prepare(
      `INSERT INTO log (session_id, kind, previous_id, length, content, created_at)
        VALUES (:sessionId, :kind, :previousId, :length, :content, :now)`,
    ).run({ ...row });
    return Number(lastInsertRowid);
  }

  /** The first batch of a tail without its oldest batches, and the number of entries from there on. */
  private shortened(sessionId: string, first: number): { readonly first: number; readonly length: number } {
    const rows = this.prepare(
      `SELECT id, length FROM log WHERE session_id = :sessionId AND kind = 'batch' AND id >= :first ORDER BY id DESC`,
    ).all({ sessionId, first });
    let shortened = { first, length: 0 };
    for (const { id, length } of rows) {
      const sum = shortened.length + Number(length);
      if (shortened.length > 0 && sum > SHORTENED_TAIL) break;
      shortened = { first: Number(id), length: sum };
    }
    return shortened;
  }

  private write(act: (now: number) => void): void {
    const now = Date.now();
    this.prepare('BEGIN IMMEDIATE').run();
    try {
      act(now);
      this.pruning.prune(now);
      this.prepare('COMMIT').run();
    } catch (error) {
      rollBack(this.database);
      throw error;
    }
  }

  private prepare(sql: string): StatementSync {
    const known = this.statements.get(sql);
    if (known) return known;
    const statement = this.database.prepare(sql);
    this.statements.set(sql, statement);
    return statement;
  }
}
