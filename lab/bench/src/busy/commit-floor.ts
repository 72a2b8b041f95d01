import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { openDatabase } from '../stores/session-stores.ts';
import type { RunStep } from '../stores/store-peer.ts';

const TABLES = `CREATE TABLE run (id INTEGER PRIMARY KEY, version INTEGER) STRICT;
CREATE TABLE step (id INTEGER, number INTEGER, text TEXT, PRIMARY KEY (id, number)) STRICT`;
const UPDATE = 'UPDATE run SET version = version + 1 WHERE id = ? AND version = ?';

/** One transaction for each save, which waits for the disk, checks a version and adds a row; and no session. */
export class CommitFloor {
  private readonly database: DatabaseSync;
  private readonly create: StatementSync;
  private readonly update: StatementSync;
  private readonly insert: StatementSync;
  private runs = 0;

  constructor(parent: string) {
    const folder = join(parent, 'floor');
    mkdirSync(folder);
    this.database = openDatabase({ folder }, 'FULL');
    this.database.exec(TABLES);
    this.create = this.database.prepare('INSERT INTO run VALUES (?, 0)');
    this.update = this.database.prepare(UPDATE);
    this.insert = this.database.prepare('INSERT INTO step VALUES (?, ?, ?)');
  }

  /** A run, and what saves its next step. */
  begin(): (step: RunStep) => Promise<void> {
    const id = this.runs++;
    this.create.run(id);
    return async ({ index, messages, step }) => {
      const text = JSON.stringify([...messages, step]);
      this.database.exec('BEGIN IMMEDIATE');
      if (this.update.run(id, index).changes !== 1)
        throw new Error(`Another version than ${index} is there.`);
      this.insert.run(id, index, text);
      this.database.exec('COMMIT');
    };
  }

  close(): void {
    this.database.close();
  }
}
