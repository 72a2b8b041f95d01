import type { Read, Readers, Shaped } from '../../document.ts';
import {
  DocumentReader,
  readAmount,
  readCount,
  readFrozenList,
  readInstant,
  readShape,
  readString,
  shapeOf,
} from '../../document.ts';
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

const shaped = <const R extends Readers>(readers: R): Read<Shaped<R>> => {
  const shape = shapeOf(readers);
  return (reader, value) => readShape(reader, value, shape);
};

const readMoment = shaped({ at: readInstant });
const readDuration = shaped({ afterSeconds: readAmount });
const readExpiry: Read<SessionExpiry> = (reader, value) =>
  (typeof value === 'object' && value !== null && 'at' in value ? readMoment : readDuration)(reader, value);

const readCursor = shaped({
  first: readCount,
  next: readCount,
  'used?': readFrozenList(readCount),
  'since?': readInstant,
});
const readInbox: Read<InboxCursor> = (reader, value) => {
  const inbox = readCursor(reader, value);
  return isInOrder(inbox) ? inbox : reader.fail('positions in ascending order', value);
};

const readRecord: Read<SessionRecord> = shaped({
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
