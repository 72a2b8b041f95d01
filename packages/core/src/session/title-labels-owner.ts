import { mustBe, optionsCheck, type ArgumentCheck } from '../arguments.ts';
import { readFrozenRecord, type Read } from '../document.ts';

/** The names and values that an application gives a session, to find and show it. */
export type SessionLabels = Readonly<Record<string, string>>;

/** The title and the labels of a session, by which people find it. */
export interface SessionDescription {
  /** A title for people: 1 to 500 characters. */
  readonly title?: string | undefined;
  /** At most 16 small texts by name. */
  readonly labels?: SessionLabels | undefined;
}

const MAX_TITLE_LENGTH = 500;
const MAX_LABELS = 16;
const MAX_LABEL_NAME = 64;
const MAX_LABEL_LENGTH = 256;

/** The owner of a session: the tenant or the user that it belongs to. */
export const OWNER: ArgumentCheck = {
  ...mustBe.text(1_000),
  expected: 'a text of 1 to 1,000 characters of well-formed Unicode',
};

export const TITLE: ArgumentCheck = {
  ...mustBe.text(MAX_TITLE_LENGTH),
  expected: `a text of 1 to ${MAX_TITLE_LENGTH} characters of well-formed Unicode`,
};

const LABEL_NAME = mustBe.text(MAX_LABEL_NAME);
const LABEL = mustBe.text(MAX_LABEL_LENGTH);

export const LABELS: ArgumentCheck = {
  expected: `an object of at most ${MAX_LABELS} texts, with names of 1 to ${MAX_LABEL_NAME} and values of 1 to ${MAX_LABEL_LENGTH} characters`,
  accepts: isLabels,
};

function isLabels(value: unknown): boolean {
  if (!mustBe.object.accepts(value)) return false;
  const entries = Object.entries(value as object);
  return (
    entries.length <= MAX_LABELS &&
    entries.every(([name, text]) => LABEL_NAME.accepts(name) && LABEL.accepts(text))
  );
}

export const checkDescription = optionsCheck<SessionDescription>('describe', {
  title: TITLE,
  labels: LABELS,
});

function readerOf(check: ArgumentCheck): Read<string> {
  return (reader, value) => (check.accepts(value) ? (value as string) : reader.fail(check.expected, value));
}

export const readOwner: Read<string> = readerOf(OWNER);
export const readTitle: Read<string> = readerOf(TITLE);
export const readLabels: Read<SessionLabels> = readFrozenRecord(readerOf(TITLE));
