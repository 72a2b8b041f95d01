import type { Instant } from '../../clock.ts';
import {
  orderedReader,
  readFilledList,
  readInstant,
  readJson,
  readString,
  since,
  type Read,
} from '../../document.ts';
import { compact, textOfThrown, toJsonValue, type JsonValue } from '../../json.ts';

/** An error as a JSON value, which can be stored and compared. It has no stack trace on purpose. */
export interface ErrorRecord {
  readonly name: string;
  readonly message: string;
  /** The stable code, if the error had one. */
  readonly code?: string;
  /** JSON facts about the failure. */
  readonly data?: JsonValue;
  /** The cause of the error. */
  readonly cause?: ErrorRecord;
  /** The single errors, if this error combines several. */
  readonly errors?: readonly ErrorRecord[];
  /** When `retry()` resumed the execution after this error. A resolved error no longer makes the execution fail. */
  readonly resolvedAt?: Instant;
}

const MAX_CAUSES = 8;
const MAX_ERRORS = 8;

/** The longest record, in characters of JSON. */
const MAX_LENGTH = 2 ** 20;
/** The characters of the message that a longer record keeps, its note included. */
const KEPT_LENGTH = 100_000;

/**
 * Returns the record of any thrown value, with up to eight levels of causes and eight combined errors. Never throws: an
 * unreadable value gets a record that states this. A record of more than 1,048,576 characters keeps its name, its code and
 * the beginning of its message, so that a store takes it.
 */
export function toErrorRecord(thrown: unknown, depth = 0): ErrorRecord {
  try {
    const record = errorRecordOf(thrown, depth);
    return depth === 0 && isTooLong(record) ? shortened(record) : record;
  } catch {
    return compact({ name: 'Error', message: 'The thrown value cannot be read.' });
  }
}

function isTooLong(record: ErrorRecord): boolean {
  const { message, data, cause, errors } = record;
  if (data === undefined && cause === undefined && errors === undefined) return message.length > MAX_LENGTH;
  return JSON.stringify(record).length > MAX_LENGTH;
}

const NOTE = '[The error was too long: its other parts were not kept.]';

function shortened({ name, message, code }: ErrorRecord): ErrorRecord {
  const isNoted = message.length <= KEPT_LENGTH && message.endsWith(NOTE); // the error of a hook quotes its cause
  const shown = message.slice(0, KEPT_LENGTH - NOTE.length - 1).toWellFormed();
  const noted = isNoted ? message.toWellFormed() : `${shown}\n${NOTE}`;
  return compact({ name, message: noted, code }) as ErrorRecord;
}

function errorRecordOf(thrown: unknown, depth: number): ErrorRecord {
  if (!isErrorLike(thrown)) return compact({ name: 'Error', message: textOfThrown(thrown) });
  const { name, message, code, data, cause, errors } = thrown;
  const isDeep = depth >= MAX_CAUSES;
  return compact({
    name: typeof name === 'string' ? name : 'Error',
    message,
    code: typeof code === 'string' ? code : undefined,
    data: data === undefined ? undefined : jsonOrNothing(data),
    cause: cause === undefined || isDeep ? undefined : toErrorRecord(cause, depth + 1),
    errors: isDeep ? undefined : severalErrors(errors, depth + 1),
  }) as ErrorRecord;
}

function severalErrors(errors: unknown, depth: number): readonly ErrorRecord[] | undefined {
  if (!Array.isArray(errors) || errors.length === 0) return undefined;
  return Object.freeze(errors.slice(0, MAX_ERRORS).map((error) => toErrorRecord(error, depth)));
}

type ErrorLike = { readonly message: string } & {
  readonly [K in Exclude<keyof ErrorRecord, 'message' | 'resolvedAt'>]?: unknown;
};

/** True for an error of any realm, and for a record. */
function isErrorLike(thrown: unknown): thrown is ErrorLike {
  return (
    typeof thrown === 'object' && thrown !== null && 'message' in thrown && typeof thrown.message === 'string'
  );
}

function jsonOrNothing(data: unknown): JsonValue | undefined {
  try {
    return toJsonValue(data);
  } catch {
    return undefined;
  }
}

export const readErrorRecord: Read<ErrorRecord> = orderedReader({
  name: readString,
  message: readString,
  'code?': readString,
  'data?': readJson,
  'cause?': (reader, value): ErrorRecord => readErrorRecord(reader, value),
  'errors?': (reader, value): readonly ErrorRecord[] => readErrorRecords(reader, value),
  'resolvedAt?': since(2, readInstant),
});

export const readErrorRecords: Read<readonly ErrorRecord[]> = readFilledList(readErrorRecord);

/** Marks errors as resolved at an instant. Errors that were resolved before do not change. @internal */
export function resolvedErrors(errors: readonly ErrorRecord[], at: Instant): readonly ErrorRecord[] {
  if (!errors.some(isUnresolved)) return errors;
  return Object.freeze(
    errors.map((error) => (isUnresolved(error) ? compact({ ...error, resolvedAt: at }) : error)),
  );
}

/** True when the error still makes its execution fail. */
export function isUnresolved({ resolvedAt }: ErrorRecord): boolean {
  return resolvedAt === undefined;
}
