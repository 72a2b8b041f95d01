import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { AgentSession } from '@holdfast/core';
import { SqliteSessionStore } from '@holdfast/store-sqlite';
import { describe, expect, test } from 'vitest';
import { temporaryFolders } from './temporary-folders.ts';

const { newFile, databaseFile } = temporaryFolders();

/** A session database with another schema version. */
function fileOfVersion(version: number): string {
  return databaseFile(
    `CREATE TABLE sessions (id TEXT); INSERT INTO sessions VALUES ('kept');
     PRAGMA application_id = 0x486f6c64; PRAGMA user_version = ${version}`,
  );
}

/** The database of another application that crashed: its last writes are in the write-ahead log. */
function crashedDatabase(): string {
  const path = newFile();
  const database = new DatabaseSync(path);
  database.exec(
    `PRAGMA journal_mode = WAL; CREATE TABLE notes (note TEXT); INSERT INTO notes VALUES ('kept')`,
  );
  const copy = newFile();
  for (const end of ['', '-wal']) writeFileSync(`${copy}${end}`, readFileSync(`${path}${end}`));
  database.close();
  return copy;
}

function textFile(content: string | Uint8Array): string {
  const path = newFile();
  writeFileSync(path, content);
  return path;
}

const REFUSED: readonly {
  readonly what: string;
  readonly make: () => string;
  readonly code?: string;
  readonly says: string;
}[] = [
  { what: 'a text', make: () => textFile('Dear diary'), says: 'not a database' },
  { what: 'two bytes', make: () => textFile('xy'), says: 'not a database' },
  {
    what: 'random bytes',
    make: () => textFile(Uint8Array.from({ length: 9_000 }, (_, n) => (n * 197) % 251)),
    says: 'not a database',
  },
  {
    what: 'a database of another application',
    make: () => databaseFile('CREATE TABLE notes (note TEXT)'),
    says: 'another application',
  },
  {
    what: 'a database with the application_id of another application',
    make: () => databaseFile('CREATE TABLE t (c); PRAGMA application_id = 7'),
    says: 'application_id 7',
  },
  {
    what: 'an empty database with a version',
    make: () => databaseFile('PRAGMA user_version = 4'),
    says: 'user_version 4',
  },
  {
    what: 'a database of another application that crashed',
    make: crashedDatabase,
    says: 'another application',
  },
  { what: 'a newer schema', make: () => fileOfVersion(6), code: 'STATE_VERSION', says: 'schema version 6' },
  {
    what: 'the previous schema',
    make: () => fileOfVersion(4),
    says: 'this release reads layout 5 only',
  },
  {
    what: 'a session database without a schema version',
    make: () => fileOfVersion(0),
    says: 'user_version 0',
  },
];

describe.each(REFUSED)('$what', ({ make, code = 'STATE_FORMAT', says }) => {
  test('is refused, and no byte of it changes', async () => {
    const path = make();
    const before = contentOf(path);
    await expect(SqliteSessionStore.open({ path })).rejects.toMatchObject({
      code,
      message: expect.stringContaining(says),
    });
    await expect(SqliteSessionStore.open({ path })).rejects.toMatchObject({
      message: expect.stringContaining(path),
    });
    expect(contentOf(path)).toEqual(before);
  });
});

/** The file and its write-ahead log. */
function contentOf(path: string): (Buffer | undefined)[] {
  return ['', '-wal', '-journal'].map((end) =>
    existsSync(path + end) ? readFileSync(path + end) : undefined,
  );
}

test('a write-ahead log that grew under a reader gets small again', async () => {
  const path = newFile();
  const store = await SqliteSessionStore.open({ path });
  const logBytes = () => statSync(`${path}-wal`).size;
  const write = async (sessionId: string, bytes: number) => {
    const session = AgentSession.create({ definition: { name: 'a' }, sessionId });
    await store.create(session.withState(session.state.withMetadata('text', 'x'.repeat(bytes))));
  };
  const reader = new DatabaseSync(path, { readOnly: true });
  reader.exec('BEGIN; SELECT count(*) FROM sessions');
  for (const id of ['one', 'two', 'three']) await write(id, 10_000_000);
  const large = logBytes();
  reader.exec('COMMIT');
  reader.close();
  for (let id = 0; id < 3; id++) await write(`small ${id}`, 1);
  expect(large).toBeGreaterThan(30_000_000);
  expect(logBytes()).toBeLessThan(20_000_000);
  await store.close();
});
