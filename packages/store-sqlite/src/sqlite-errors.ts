import { SessionTooLargeError, StateFormatError, StoreUnavailableError } from '@holdfast/core';

/** The content of a write: its session, and the size of its largest value, in bytes. */
export interface MeasuredWrite {
  readonly sessionId: string;
  readonly largest: () => number;
}

/** What the store was doing when SQLite failed. */
export interface SqliteOperation {
  /** The file, or what stands for it, as messages name it. */
  readonly location: string;
  readonly kind: 'read' | 'write' | 'commit';
  readonly written?: MeasuredWrite | undefined;
}

/** SQLite's primary result codes. */
const BUSY = 5;
const LOCKED = 6;
const NOMEM = 7;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const TOOBIG = 18;
const NOTADB = 26;

/** Bytes of one value; SQLite's own limit, and Node's. */
export const MAX_VALUE_BYTES = 1_000_000_000;

const LOCKED_ADVICE =
  'is locked by another connection for longer than the busy timeout. Nothing was written: try again, end the transaction that holds it, or raise busyTimeoutSeconds';

/** What is wrong and what to do, by primary result code. */
const ADVICE: Readonly<Record<number, string>> = {
  [BUSY]: LOCKED_ADVICE,
  [LOCKED]: LOCKED_ADVICE,
  [NOMEM]: 'ran out of memory',
  [READONLY]: 'cannot be written to. Check the permissions of the file and of its folder',
  [IOERR]: 'could not be read or written. Check the disk, and that the path is a file',
  [FULL]: 'has no room left. Make room on the disk',
  [CANTOPEN]: 'could not be opened. Check that the path is a file and that its folder can be written to',
};

/** The primary result code of an error of `node:sqlite`; `undefined` for any other error. */
function sqliteCode(error: unknown): number | undefined {
  const code = extendedCode(error);
  return code === undefined ? undefined : code & 0xff;
}

/** True when another connection was in the way. */
export function isBusy(error: unknown): boolean {
  return sqliteCode(error) === BUSY;
}

/** True when a connection that only reads met something that must be written first, such as a recovery. */
export function isReadOnly(error: unknown): boolean {
  return sqliteCode(error) === READONLY;
}

function extendedCode(error: unknown): number | undefined {
  if (!(error instanceof Error && 'errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode : undefined;
}

/** Does something with the database. What SQLite throws comes out as an error of the store contract. */
export function withStoreErrors<T>(what: SqliteOperation, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw toStoreError(error, what) ?? error;
  }
}

/** The contract's name for an error of `node:sqlite`; `undefined` for an error that is not SQLite's. */
function toStoreError(error: unknown, { location, kind, written }: SqliteOperation): Error | undefined {
  if (isClosed(error)) return unavailable(`The session database ${location} was closed by its owner.`, error);
  const code = sqliteCode(error);
  if (code === undefined || !(error instanceof Error)) return undefined;
  const detail = `SQLite error ${extendedCode(error)}: ${error.message}`;
  if (code === CORRUPT || code === NOTADB) return notReadable(location, detail, error);
  if (code === TOOBIG && written) {
    return new SessionTooLargeError(written.sessionId, written.largest(), MAX_VALUE_BYTES);
  }
  const isAmbiguous = mayBeDone(kind, code);
  const doubt = isAmbiguous ? '; the write may have been done' : '';
  const message = `The session database ${location} ${ADVICE[code] ?? 'refused to answer'}${doubt} (${detail}).`;
  return unavailable(message, error, isAmbiguous);
}

/**
 * Whether a write that failed may have been done. A commit that fails on a full disk may have reached the disk before:
 * it is found there after a crash. A commit that meets another connection has not begun.
 */
function mayBeDone(kind: SqliteOperation['kind'], code: number): boolean {
  return kind === 'commit' ? code !== BUSY : kind === 'write' && code === IOERR;
}

/** `node:sqlite` says so when the database, and with it the statement, was closed. */
function isClosed(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_INVALID_STATE';
}

/** The storage did not do it, and may have done it only if `isAmbiguous`. */
export function unavailable(message: string, cause?: unknown, isAmbiguous = false): StoreUnavailableError {
  return new StoreUnavailableError(message, { isAmbiguous, cause });
}

function notReadable(location: string, detail: string, cause: Error): StateFormatError {
  const expected =
    'an intact SQLite database; if it was one, restore a backup or salvage it with the sqlite3 shell';
  return new StateFormatError(location, expected, detail, { cause });
}
