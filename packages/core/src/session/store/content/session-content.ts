import { describeValue, hasErrorCode, StateFormatError } from '../../../errors.ts';
import { roundedInteger, type JsonValue } from '../../../json.ts';

/** A session as a store saves it, in parts that change at different rates. Every text is JSON. */
export interface SessionContent {
  /**
   * The part that changes with every save: the version, the execution without its closed steps, the lengths of the
   * lists.
   */
  readonly head: string;
  /** The parts that seldom change, by name: the definition, the system prompt, metadata, settings. */
  readonly values: ReadonlyMap<string, string>;
  /** The parts that grow at their end, by name: the messages of each section, the closed steps. */
  readonly lists: ReadonlyMap<string, readonly string[]>;
}

/** The change of one list. */
export interface ListChange {
  readonly name: string;
  /** The number of elements that stay, from the start. */
  readonly keep: number;
  /** The elements to append to them. A list that ends up without elements is removed. */
  readonly append: readonly string[];
}

/** The parts of the content that a save must write. A store applies a plan completely or not at all. */
export interface SavePlan {
  /** True when the saved content is unknown: the plan replaces all of it. */
  readonly isWhole: boolean;
  readonly head: string;
  /** Values that are new or changed; `undefined` for a removed value. */
  readonly values: ReadonlyMap<string, string | undefined>;
  /** Lists that are new, changed or removed. */
  readonly lists: readonly ListChange[];
}

/**
 * Returns the content after a plan was applied. For stores that save whole sessions, or apply plans one after the
 * other.
 */
export function applySavePlan(content: SessionContent | undefined, plan: SavePlan): SessionContent {
  const base = plan.isWhole ? undefined : content;
  const values = new Map(base?.values);
  for (const [name, text] of plan.values) {
    if (text === undefined) values.delete(name);
    else values.set(name, text);
  }
  const lists = new Map(base?.lists);
  for (const { name, keep, append } of plan.lists) {
    const before = lists.get(name) ?? [];
    if (keep > before.length) throw unreadablePart(`the list "${name}"`, `${keep} elements`, before.length);
    if (keep + append.length === 0) lists.delete(name);
    else lists.set(name, [...before.slice(0, keep), ...append]);
  }
  return { head: plan.head, values, lists };
}

/** The error for a part of the content that is missing or invalid. */
export function unreadablePart(
  what: string,
  expected: string,
  found: unknown,
  cause?: unknown,
): StateFormatError {
  return new StateFormatError(what, expected, describeValue(found), { cause });
}

/** Reads a stored text. The error of an unreadable text names the place. @throws StateFormatError */
export function readStored<T>(where: string, expected: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof StateFormatError || error instanceof SyntaxError)) throw error;
    const code = hasErrorCode(error, 'STATE_VERSION') ? 'STATE_VERSION' : 'STATE_FORMAT';
    throw new StateFormatError(where, expected, error.message, { code, cause: error });
  }
}

/**
 * Parses a stored text. @throws StateFormatError for a text that is missing or not JSON, and for a whole number that would be
 * rounded: the next save would write the rounded number.
 */
export function parsePart(text: string | undefined, what: string, expected = 'a stored part'): JsonValue {
  if (text === undefined) throw unreadablePart(what, expected, undefined);
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch (cause) {
    throw unreadablePart(what, 'JSON', text, cause);
  }
  const rounded = roundedInteger(text);
  if (rounded !== undefined)
    throw new StateFormatError(what, 'whole numbers that a double holds', rounded.slice(0, 40));
  return value;
}
