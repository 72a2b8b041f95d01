import type { Read } from '../../../document.ts';
import {
  DocumentReader,
  readAmount,
  readBoolean,
  readCount,
  readFrozenList,
  readInstant,
  readString,
  shapeReader,
} from '../../../document.ts';
import type { InboxCursor } from './inbox-cursor.ts';
import { isValidCursor } from './inbox-cursor.ts';
import { readSessionInfo } from '../../session-info.ts';
import { readWorkFailure } from '../../work-failure.ts';
import type { SessionRecord } from './session-record.ts';
import type { SessionExpiry } from '../../session-store.ts';

/** Reads a record from the JSON that a store saved. @throws StateFormatError for an invalid record. */
export function readSessionRecord(json: unknown): SessionRecord {
  return DocumentReader.read(json, (reader, value) => {
    const record = readRecord(reader, value);
    return Object.freeze({ ...record, info: readSessionInfo(reader, record.info) }); // JSON has no `undefined`
  });
}

const readMoment = shapeReader({ at: readInstant });
const readDuration = shapeReader({ afterSeconds: readAmount });
const readExpiry: Read<SessionExpiry> = (reader, value) =>
  (typeof value === 'object' && value !== null && 'at' in value ? readMoment : readDuration)(reader, value);

const readCursor = shapeReader({
  first: readCount,
  next: readCount,
  'gaps?': readFrozenList(readCount),
  'since?': readInstant,
});
const readInbox: Read<InboxCursor> = (reader, value) => {
  const inbox = readCursor(reader, value);
  return isValidCursor(inbox) ? inbox : reader.fail('positions in ascending order', value);
};

const readRecord: Read<SessionRecord> = shapeReader({
  info: readSessionInfo,
  incarnation: readString,
  writes: readCount,
  token: readString,
  contentToken: readString,
  'operation?': shapeReader({ id: readString, hash: readString }),
  epoch: readCount,
  'lease?': shapeReader({
    workerId: readString,
    until: readInstant,
    'isAlone?': readBoolean,
    'readTo?': readCount,
  }),
  attempt: readCount,
  'isSuspect?': readBoolean,
  progress: readString,
  'wakeAt?': readInstant,
  lastActiveAt: readInstant,
  'inbox?': readInbox,
  'usedIds?': readFrozenList(readString),
  'failure?': readWorkFailure,
  'takenUntil?': readInstant,
  'expiry?': readExpiry,
  'expiresAt?': readInstant,
  'firstRevision?': readCount,
});
