import type { ArgumentCheck } from '../arguments.ts';
import { mustBe } from '../arguments.ts';
import type { Read } from '../document.ts';
import { readFrozenRecord } from '../document.ts';

/** The names and values that an application gives a session, to find and show it. */
export type SessionLabels = Readonly<Record<string, string>>;

const MAX_TITLE_LENGTH = 500;
const MAX_LABELS = 16;
const MAX_LABEL_NAME = 64;
const MAX_LABEL_LENGTH = 256;

/** The owner of a session: the tenant or the user that it belongs to. */
export const OWNER: ArgumentCheck = {
  expected: 'a text of 1 to 1,000 characters of well-formed Unicode',
  accepts: (value) =>
    typeof value === 'string' && value.length > 0 && value.length <= 1_000 && value.isWellFormed(),
  type: 'string',
};

export const TITLE: ArgumentCheck = {
  expected: `a text of 1 to ${MAX_TITLE_LENGTH} characters of well-formed Unicode`,
  accepts: (value) => isText(value, MAX_TITLE_LENGTH),
  type: 'string',
};

export const LABELS: ArgumentCheck = {
  expected: `an object of at most ${MAX_LABELS} texts, with names of 1 to ${MAX_LABEL_NAME} and values of 1 to ${MAX_LABEL_LENGTH} characters`,
  accepts: isLabels,
};

function isLabels(value: unknown): boolean {
  if (!mustBe.object.accepts(value)) return false;
  const entries = Object.entries(value as object);
  return (
    entries.length <= MAX_LABELS &&
    entries.every(([name, text]) => isText(name, MAX_LABEL_NAME) && isText(text, MAX_LABEL_LENGTH))
  );
}

function isText(value: unknown, maxLength: number): boolean {
  return typeof value === 'string' && value.length > 0 && value.length <= maxLength && value.isWellFormed();
}

function readerOf(check: ArgumentCheck): Read<string> {
  return (reader, value) => (check.accepts(value) ? (value as string) : reader.fail(check.expected, value));
}

export const readOwner: Read<string> = readerOf(OWNER);
export const readTitle: Read<string> = readerOf(TITLE);
export const readLabels: Read<SessionLabels> = readFrozenRecord(readerOf(TITLE));
