import { StateFormatError } from '@holdfast/core';
import type {
  ArchiveChange,
  CompareAndSetResult,
  ItemRange,
  ListChange,
  MissingParts,
  ReadContent,
  RecordChange,
  SavePlan,
  StoredItem,
} from '@holdfast/core/store';
import { escapeText } from './session-row.ts';
import type { SqliteConnection } from './sqlite-connection.ts';
import type { SqliteValue } from './sqlite-database.ts';

/** Writes the content and inbox rows of a session. Returns `duplicate` when the inbox already holds the item. */
export function writeContent(
  connection: SqliteConnection,
  session_key: SqliteValue,
  { plan, enqueue, acknowledge = [], archives = [] }: RecordChange,
): CompareAndSetResult {
  for (const change of archives) writeArchive(connection, session_key, change);
  if (plan) writePlan(connection, session_key, plan);
  for (const { position } of acknowledge) connection.run(DROP_ITEM, { session_key, position });
  if (enqueue === undefined) return 'done';
  const { id, position, json } = enqueue;
  const item = { session_key, position, item_id: escapeText(id), content: json };
  return connection.run(PUT_ITEM, item) > 0 ? 'done' : 'duplicate';
}

function writeArchive(
  connection: SqliteConnection,
  session_key: SqliteValue,
  { archive, put, remove }: ArchiveChange,
): void {
  for (const { position, json } of put)
    connection.run(PUT_ENTRY, { session_key, archive, position, content: json });
  if (remove) connection.run(DROP_ENTRIES, { session_key, archive, ...remove });
}

/** Reads the entries of an archive of an incarnation in a range of positions, lowest position first. */
export function readArchive(
  connection: SqliteConnection,
  session: { readonly sessionId: string; readonly incarnation: string },
  archive: string,
  range: ItemRange,
): readonly StoredItem[] {
  const { sessionId: session_id, incarnation } = session;
  const parameters = { session_id, incarnation: escapeText(incarnation), archive, ...range };
  const rows = connection.all(SELECT_ENTRIES, parameters);
  return rows.map(({ position, content }) => ({ position: Number(position), json: String(content) }));
}

function writePlan(
  connection: SqliteConnection,
  session_key: SqliteValue,
  { isWhole, values, lists }: SavePlan,
): void {
  if (isWhole) {
    connection.run(DROP_VALUES, { session_key });
    connection.run(DROP_LISTS, { session_key });
  }
  for (const [key, content] of values) {
    const name = escapeText(key);
    if (content === undefined) connection.run(DROP_VALUE, { session_key, name });
    else connection.run(PUT_VALUE, { session_key, name, content });
  }
  for (const list of lists) writeList(connection, session_key, list);
}

function writeList(
  connection: SqliteConnection,
  session_key: SqliteValue,
  { name: list, keep, append }: ListChange,
): void {
  const name = escapeText(list);
  connection.run(CUT_LIST, { session_key, name, keep });
  let position = keep;
  for (const content of append) connection.run(APPEND, { session_key, name, position: position++, content });
}

/**
 * Reads parts of the content of a session. The caller opens a transaction, so that they are of one moment.
 * @throws StateFormatError for a list with a missing element.
 */
export function readParts(
  connection: SqliteConnection,
  session_key: SqliteValue,
  { values, lists }: MissingParts,
  where: string,
): Pick<ReadContent, 'values' | 'lists'> {
  const texts = new Map<string, string>();
  for (const value of values) {
    const row = connection.get(SELECT_VALUE, { session_key, name: escapeText(value) });
    if (row) texts.set(value, String(row['content']));
  }
  const changes = lists.map(({ name, from }): ListChange => {
    const rows = connection.all(SELECT_ELEMENTS, { session_key, name: escapeText(name), from });
    for (const [index, { position }] of rows.entries()) {
      if (position === from + index) continue;
      const path = `the list "${name}" of ${where}`;
      throw new StateFormatError(path, `element ${from + index}`, `element ${String(position)}`);
    }
    return { name, keep: from, append: rows.map(({ content }) => String(content)) };
  });
  return { values: texts, lists: changes };
}

/** Reads the inbox items of an incarnation in a range of positions, lowest position first. */
export function readInbox(
  connection: SqliteConnection,
  sessionId: string,
  incarnation: string,
  range: ItemRange,
): readonly StoredItem[] {
  const parameters = { session_id: sessionId, incarnation: escapeText(incarnation), ...range };
  const rows = connection.all(SELECT_ITEMS, parameters);
  return rows.map(({ position, content }) => ({ position: Number(position), json: String(content) }));
}

/** Returns the position of the item of an incarnation with an id. */
export function readPosition(
  connection: SqliteConnection,
  sessionId: string,
  incarnation: string,
  itemId: string,
): number | undefined {
  const parameters = {
    session_id: sessionId,
    incarnation: escapeText(incarnation),
    item_id: escapeText(itemId),
  };
  const row = connection.get(SELECT_POSITION, parameters);
  return row && Number(row['position']);
}

/** The size in bytes of the largest value in a change. */
export function largestValue({ plan, enqueue, archives = [] }: RecordChange): number {
  const texts = [
    plan?.head,
    ...(plan?.values.values() ?? []),
    ...(plan?.lists.flatMap(({ append }) => append) ?? []),
    enqueue?.json,
    ...archives.flatMap(({ put }) => put.map(({ json }) => json)),
  ];
  return texts.reduce((largest, text) => Math.max(largest, Buffer.byteLength(text ?? '')), 0);
}

const SELECT_VALUE = 'SELECT content FROM session_values WHERE session_key = :session_key AND name = :name';
const PUT_VALUE = `INSERT INTO session_values (session_key, name, content) VALUES (:session_key, :name, :content)
  ON CONFLICT (session_key, name) DO UPDATE SET content = excluded.content`;
const DROP_VALUE = 'DELETE FROM session_values WHERE session_key = :session_key AND name = :name';
const DROP_VALUES = 'DELETE FROM session_values WHERE session_key = :session_key';

const SELECT_ELEMENTS = `SELECT position, content FROM session_lists
  WHERE session_key = :session_key AND name = :name AND position >= :from ORDER BY position`;
const APPEND = `INSERT INTO session_lists (session_key, name, position, content)
  VALUES (:session_key, :name, :position, :content)`;
const CUT_LIST =
  'DELETE FROM session_lists WHERE session_key = :session_key AND name = :name AND position >= :keep';
const DROP_LISTS = 'DELETE FROM session_lists WHERE session_key = :session_key';

const SELECT_ITEMS = `SELECT position, content FROM session_inbox
  WHERE session_key = (SELECT session_key FROM sessions WHERE session_id = :session_id AND incarnation = :incarnation)
  AND position >= :from AND position < :to ORDER BY position LIMIT :limit`;
const SELECT_POSITION = `SELECT position FROM session_inbox
  WHERE session_key = (SELECT session_key FROM sessions WHERE session_id = :session_id AND incarnation = :incarnation)
  AND item_id = :item_id`;
const PUT_ITEM = `INSERT INTO session_inbox (session_key, position, item_id, content)
  VALUES (:session_key, :position, :item_id, :content) ON CONFLICT (session_key, item_id) DO NOTHING`;
const DROP_ITEM = 'DELETE FROM session_inbox WHERE session_key = :session_key AND position = :position';

const PUT_ENTRY = `INSERT INTO session_archives (session_key, archive, position, content)
  VALUES (:session_key, :archive, :position, :content)
  ON CONFLICT (session_key, archive, position) DO UPDATE SET content = excluded.content`;
const DROP_ENTRIES = `DELETE FROM session_archives
  WHERE session_key = :session_key AND archive = :archive AND position >= :from AND position < :to`;
const SELECT_ENTRIES = `SELECT position, content FROM session_archives
  WHERE session_key = (SELECT session_key FROM sessions WHERE session_id = :session_id AND incarnation = :incarnation)
  AND archive = :archive AND position >= :from AND position < :to ORDER BY position LIMIT :limit`;
