// Saves many sessions at once, repeatedly, and prints each acknowledged version. The process kills itself before or after
// the nth statement that begins with a text. The arguments are this point, n and the text.
import { DatabaseSync } from 'node:sqlite';
import type { AgentSession } from '@holdfast/core';
import { SqliteSessionStore, type SqliteDatabase, type SqliteParameters } from '@holdfast/store-sqlite';
import { newSession, withFact } from '@holdfast/conformance';
import { say } from './child-store.ts';

const [, , path = '', sessions, moment, nth, beginning = ''] = process.argv;
let statements = 0;

function killed<T>(
  sql: string,
  act: (parameters: SqliteParameters) => T,
): (parameters: SqliteParameters) => T {
  return (parameters) => {
    const isLast = sql.startsWith(beginning) && ++statements === Number(nth);
    if (isLast && moment === 'before') process.kill(process.pid, 'SIGKILL');
    const result = act(parameters);
    if (isLast) process.kill(process.pid, 'SIGKILL');
    return result;
  };
}

function mortal(database: DatabaseSync): SqliteDatabase {
  return {
    exec: (sql) => database.exec(sql),
    prepare(sql) {
      const statement = database.prepare(sql);
      return {
        get: killed(sql, (parameters) => statement.get(parameters)),
        all: killed(sql, (parameters) => statement.all(parameters)),
        run: killed(sql, (parameters) => statement.run(parameters)),
      };
    },
  };
}

async function saveForEver(session: AgentSession): Promise<never> {
  for (let base = session; ; say(`${base.sessionId} ${base.version}`)) {
    base = await store.save(withFact(base, 'text', `${base.version} `.repeat(200)), { base });
  }
}

const database = new DatabaseSync(path);
database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
const store = new SqliteSessionStore({ database: mortal(database) });
const names = Array.from({ length: Number(sessions) }, (_, index) => `victim ${index}`);
const created = await Promise.all(names.map((name) => store.create(newSession(name))));
for (const { sessionId, version } of created) say(`${sessionId} ${version}`);
await Promise.all(created.map(saveForEver));
