import {
  DocumentReader,
  orderedReader,
  readAmount,
  readBoolean,
  readCount,
  readFrozenList,
  readInstant,
  readString,
  shapeReader,
  type Read,
} from '../../../document.ts';
import { StateFormatError } from '../../../errors.ts';
import { readStored } from '../content/session-content.ts';
import { isValidCursor, type InboxCursor } from './inbox-cursor.ts';
import { readSessionInfo } from '../../session-info.ts';
import { readWorkFailure } from '../../work-failure.ts';
import type { SessionRecord } from './session-record.ts';
import type { SessionExpiry } from '../../session-store.ts';
import type { SeenWorker } from '../../session-directory.ts';

/** Reads a record from the JSON that a store saved. @throws StateFormatError for an invalid record. */
export function readSessionRecord(json: unknown): SessionRecord {
  return DocumentReader.read(json, readRecord);
}

/**
 * Reads the record of a session from the text that a store saved. `where` names the session in errors.
 * @throws StateFormatError for an invalid record and for that of another session; `STATE_VERSION` when a newer release
 * wrote the record.
 */
export function parseSessionRecord(
  text: string,
  sessionId: string,
  where = `session ${JSON.stringify(sessionId)}`,
): SessionRecord {
  const record = readStored(where, 'a record that this release can read', () =>
    readSessionRecord(JSON.parse(text)),
  );
  if (record.info.sessionId === sessionId) return record;
  throw new StateFormatError(where, 'its record', `that of ${JSON.stringify(record.info.sessionId)}`);
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

const readRecord: Read<SessionRecord> = orderedReader({
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
  'reserved?': readFrozenList(shapeReader({ name: readString, position: readCount })),
  'usedIds?': readFrozenList(readString),
  'failure?': readWorkFailure,
  'takenUntil?': readInstant,
  'expiry?': readExpiry,
  'expiresAt?': readInstant,
  'firstRevision?': readCount,
});

const readWorker: Read<SeenWorker> = shapeReader({
  workerName: readString,
  since: readInstant,
  sessionIds: readFrozenList(readString),
  seenAt: readInstant,
});

/**
 * Reads the announcement of a worker from the text that a store saved; `undefined` for an unreadable one. It must not end
 * the list of workers, and its time is over soon.
 */
export function parseSeenWorker(text: string): SeenWorker | undefined {
  try {
    return DocumentReader.read(JSON.parse(text), readWorker);
  } catch (error) {
    if (error instanceof StateFormatError || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
