import type { Read } from '../../json.ts';
import {
  DocumentReader,
  readAmount,
  readCount,
  readFrozenList,
  readInstant,
  readShape,
  readString,
  shapeOf,
} from '../../json.ts';
import type { InboxCursor } from './inbox-cursor.ts';
import { isInOrder } from './inbox-cursor.ts';
import { readSessionInfo } from '../session-info.ts';
import type { SessionRecord } from './session-record.ts';
import type { SessionExpiry } from '../session-store.ts';

/** A record as a store has kept it as JSON. @throws StateFormatError when it is none. */
export function readSessionRecord(json: unknown): SessionRecord {
  return DocumentReader.read(json, (reader, value) => {
    const record = readRecord(reader, value);
    return Object.freeze({ ...record, info: readSessionInfo(reader, record.info) }); // JSON has no `undefined`
  });
}

const shaped = <T>(readers: Readonly<Record<string, Read<unknown>>>): Read<T> => {
  const shape = shapeOf<T>(readers);
  return (reader, value) => readShape(reader, value, shape);
};

const readMoment = shaped<SessionExpiry>({ at: readInstant });
const readDuration = shaped<SessionExpiry>({ afterSeconds: readAmount });
const readExpiry: Read<SessionExpiry> = (reader, value) =>
  (typeof value === 'object' && value !== null && 'at' in value ? readMoment : readDuration)(reader, value);

const readCursor = shaped<InboxCursor>({
  first: readCount,
  next: readCount,
  'used?': readFrozenList(readCount),
  'since?': readInstant,
});
const readInbox: Read<InboxCursor> = (reader, value) => {
  const inbox = readCursor(reader, value);
  return isInOrder(inbox) ? inbox : reader.fail('positions in ascending order', value);
};

const readRecord: Read<SessionRecord> = shaped<SessionRecord>({
  info: readSessionInfo,
  incarnation: readString,
  writes: readCount,
  token: readString,
  contentToken: readString,
  'operation?': shaped({ id: readString, content: readString }),
  epoch: readCount,
  'lease?': shaped({ owner: readString, until: readInstant }),
  attempt: readCount,
  progress: readString,
  'wakeAt?': readInstant,
  lastActiveAt: readInstant,
  'inbox?': readInbox,
  'used?': readFrozenList(readString),
  'expiry?': readExpiry,
  'expiresAt?': readInstant,
});
