import type { Instant } from '../../clock.ts';
import { describeValue } from '../../errors.ts';
import type { Read } from '../../document.ts';
import type { JsonValue } from '../../json.ts';
import { orderedReader, readInstant, readJson, readString } from '../../document.ts';
import { compact, toJsonValue } from '../../json.ts';

/** An error as a value: what can be kept, compared and read back. Stack traces are left out on purpose. */
export interface ErrorRecord {
  readonly name: string;
  readonly message: string;
  /** The stable code, when the error had one. */
  readonly code?: string;
  /** JSON facts about the failure. */
  readonly data?: JsonValue;
  /** What caused it. */
  readonly cause?: ErrorRecord;
  /** What it stands for, when it stands for several. */
  readonly errors?: readonly ErrorRecord[];
  /** When `retry()` took the execution up again after this error. It then no longer makes the execution fail. */
  readonly resolvedAt?: Instant;
}

const MAX_CAUSES = 8;
const MAX_ERRORS = 8;

/**
 * Anything that was thrown, as a record. Causes are followed up to eight deep, and of several errors eight are kept.
 * Never throws: of what cannot be read it says so.
 */
export function toErrorRecord(thrown: unknown, depth = 0): ErrorRecord {
  try {
    return errorRecordOf(thrown, depth);
  } catch {
    return compact({ name: 'Error', message: 'Something was thrown that cannot be read.' });
  }
}

function errorRecordOf(thrown: unknown, depth: number): ErrorRecord {
  if (!isErrorLike(thrown)) return compact({ name: 'Error', message: messageOfThrown(thrown) });
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

/** An error of any realm, or a record of one. */
function isErrorLike(thrown: unknown): thrown is ErrorLike {
  return (
    typeof thrown === 'object' && thrown !== null && 'message' in thrown && typeof thrown.message === 'string'
  );
}

function messageOfThrown(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown;
  try {
    return JSON.stringify(thrown) ?? String(thrown);
  } catch {
    return `Something that is not an error was thrown: ${describeValue(thrown)}.`;
  }
}

function jsonOrNothing(data: unknown): JsonValue | undefined {
  try {
    return toJsonValue(data);
  } catch {
    return undefined;
  }
}

const readResolvedAt: Read<Instant> = (reader, value) =>
  reader.version < 2 ? reader.fail('no such member before version 2', value) : readInstant(reader, value);

/** Reads one error. */
export const readErrorRecord: Read<ErrorRecord> = orderedReader({
  name: readString,
  message: readString,
  'code?': readString,
  'data?': readJson,
  'cause?': (reader, value): ErrorRecord => readErrorRecord(reader, value),
  'errors?': (reader, value): readonly ErrorRecord[] => readErrorRecords(reader, value),
  'resolvedAt?': readResolvedAt,
});

/** Reads errors; a list of none is left out. */
export const readErrorRecords: Read<readonly ErrorRecord[]> = (reader, value) =>
  reader.nonEmptyList(value, readErrorRecord);

/** The same errors, marked as resolved at a moment; those that were resolved before stay as they are. @internal */
export function resolvedErrors(errors: readonly ErrorRecord[], at: Instant): readonly ErrorRecord[] {
  if (!errors.some(isUnresolved)) return errors;
  return Object.freeze(
    errors.map((error) => (isUnresolved(error) ? compact({ ...error, resolvedAt: at }) : error)),
  );
}

/** Does the error still make its execution fail? */
export function isUnresolved({ resolvedAt }: ErrorRecord): boolean {
  return resolvedAt === undefined;
}
