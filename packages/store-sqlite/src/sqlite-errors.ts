import { SessionTooLargeError, StateFormatError, StoreUnavailableError } from '@holdfast/core';

/** The session of a write, and the size in bytes of the largest value that it writes. */
export interface MeasuredWrite {
  readonly sessionId: string;
  readonly largest: () => number;
}

/** The operation of the store during which SQLite failed. */
export interface SqliteOperation {
  /** The name of the database in messages, usually the path of its file. */
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

/** The largest size of one value in bytes: the default limit of SQLite, which Node does not change. */
export const MAX_VALUE_BYTES = 1_000_000_000;

const LOCKED_ADVICE =
  'was locked by another connection for longer than the busy timeout, and nothing was written. Retry, end the transaction that locks the database, or raise busyTimeoutSeconds';

/** The problem and the advice, by primary result code. */
const ADVICE: Readonly<Record<number, string>> = {
  [BUSY]: LOCKED_ADVICE,
  [LOCKED]: LOCKED_ADVICE,
  [NOMEM]: 'ran out of memory. Give the process more memory',
  [READONLY]: 'is read-only. Check the permissions of the file and of its folder',
  [IOERR]: 'could not be read or written. Check the disk, and that the path names a file',
  [FULL]: 'has no space left. Free space on the disk',
  [CANTOPEN]: 'could not be opened. Check that the path names a file and that its folder is writable',
};

/** The primary result code of an error of `node:sqlite`; `undefined` for any other error. */
function sqliteCode(error: unknown): number | undefined {
  const code = extendedCode(error);
  return code === undefined ? undefined : code & 0xff;
}

/** True when another connection held the lock. */
export function isBusy(error: unknown): boolean {
  return sqliteCode(error) === BUSY;
}

/** True when a read-only connection failed because SQLite had to write first, for example to recover the file. */
export function isReadOnly(error: unknown): boolean {
  return sqliteCode(error) === READONLY;
}

function extendedCode(error: unknown): number | undefined {
  if (!(error instanceof Error && 'errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode : undefined;
}

/** Calls a function that uses the database. Throws SQLite errors as errors of the store contract. */
export function withStoreErrors<T>(what: SqliteOperation, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw toStoreError(error, what) ?? error;
  }
}

/** The error of the store contract for an error of `node:sqlite`; `undefined` for any other error. */
function toStoreError(error: unknown, { location, kind, written }: SqliteOperation): Error | undefined {
  if (isClosed(error)) return unavailable(`The database ${location} was closed outside the store.`, error);
  const code = sqliteCode(error);
  if (code === undefined || !(error instanceof Error)) return undefined;
  const detail = `SQLite error ${extendedCode(error)}: ${error.message}`;
  if (code === CORRUPT || code === NOTADB) return notReadable(location, detail, error);
  if (code === TOOBIG && written) {
    return new SessionTooLargeError(written.sessionId, written.largest(), MAX_VALUE_BYTES);
  }
  const isAmbiguous = mayBeDone(kind, code);
  const doubt = isAmbiguous ? '; the write may have been done' : '';
  const message = `The database ${location} ${ADVICE[code] ?? 'returned an error'}${doubt} (${detail}).`;
  return unavailable(message, error, isAmbiguous);
}

/**
 * Whether a failed write may have been done. A commit that fails on a full disk may already be in the write-ahead log,
 * where SQLite finds it after a crash. A commit that fails because of a lock has not begun.
 */
function mayBeDone(kind: SqliteOperation['kind'], code: number): boolean {
  return kind === 'commit' ? code !== BUSY : kind === 'write' && code === IOERR;
}

/** True for the error of `node:sqlite` when the database was closed, and its statements with it. */
function isClosed(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_INVALID_STATE';
}

/** A StoreUnavailableError. The operation was not done; if `isAmbiguous`, it may have been done. */
export function unavailable(message: string, cause?: unknown, isAmbiguous = false): StoreUnavailableError {
  return new StoreUnavailableError(message, { isAmbiguous, cause });
}

function notReadable(location: string, detail: string, cause: Error): StateFormatError {
  const expected =
    'an intact SQLite database; restore a backup, or recover the database with the sqlite3 shell';
  return new StateFormatError(location, expected, detail, { cause });
}
