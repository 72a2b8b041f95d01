import { openDatabase } from '../session-stores.ts';
import type { StorePeer, StorePlace } from '../store-peer.ts';
import { messagesOf } from './compare-and-set.ts';

const TABLE = 'CREATE TABLE run (id TEXT PRIMARY KEY, version INTEGER, document TEXT) STRICT';
const SAVE = 'UPDATE run SET version = version + 1, document = ? WHERE id = ? AND version = ?';
const ID = 'run';

/** The whole document in one row of SQLite, with a version. */
export function wholeJsonSqlite(place: StorePlace, synchronous: 'FULL' | 'NORMAL'): StorePeer {
  const database = openDatabase(place, synchronous);
  database.exec(TABLE);
  database.prepare('INSERT INTO run VALUES (?, 0, ?)').run(ID, '{}');
  const save = database.prepare(SAVE);
  const load = database.prepare('SELECT document FROM run WHERE id = ?');
  return {
    prepare:
      ({ document, index }) =>
      async () => {
        const { changes } = save.run(JSON.stringify(document), ID, index);
        if (changes !== 1) throw new Error(`Another version than ${index} is there.`);
      },
    messages: async () => messagesOf(JSON.parse(String(load.get(ID)?.['document']))),
    close: async () => database.close(),
  };
}
