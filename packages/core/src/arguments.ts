import type { Clock } from './clock.ts';
import { DocumentReader, type Read } from './document.ts';
import { describeValue, HoldfastError, invalidArgument, StateFormatError } from './errors.ts';
import { toJsonValue } from './json.ts';

/** The check of one argument or option. */
export interface ArgumentCheck {
  /** Completes the sentence "maxRetries must be …". */
  readonly expected: string;
  /** Returns true for a valid value. */
  readonly accepts: (value: unknown) => boolean;
  /** The type of valid values. An invalid value of this type is a RangeError, a value of another type a TypeError. */
  readonly type?: 'number' | 'string';
  /** The option is required. */
  readonly isRequired?: boolean;
  /** Error messages do not show the value. */
  readonly isSecret?: boolean;
  /** Error messages do not list the option, because only the framework sets it. */
  readonly isInternal?: boolean;
}

/** A check for each option of a function. */
export type OptionChecks<Options> = { readonly [Name in keyof Options]-?: ArgumentCheck };

/**
 * Returns the value if it passes the check.
 * @throws RangeError or TypeError `ARGUMENT_INVALID`. The message states the expected and the found value.
 */
export function checkArgument<T>(name: string, value: T, check: ArgumentCheck): T {
  if (check.accepts(value)) return value;
  throw misfit(name, value, check);
}

function misfit(name: string, value: unknown, { expected, type, isSecret }: ArgumentCheck): Error {
  const found = isSecret ? describeType(value) : describeValue(value);
  return invalidArgument(
    `${name} must be ${expected}, found ${found}.`,
    typeof value === type ? RangeError : TypeError,
  );
}

/**
 * Checks the options of a function and returns them. `owner` replaces the name of the function in error messages, as in
 * `tool "add"`.
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for options that are not an object, an unknown option, an invalid
 * value, and a missing required option.
 */
export type OptionsCheck<Options> = <Given extends Options>(options: Given, owner?: string) => Given;

/**
 * Creates the check of the options of one function or class. Create the check once, beside the function.
 * @param owner the name of the function in error messages, such as `createAgentLoop`
 * @param advice what to write instead of an unknown option, by the name of the option
 * @example
 * const checkOptions = optionsCheck<RetryOptions>('retry', { maxRetries: mustBe.wholeNumber(0), wait: mustBe.function });
 */
export function optionsCheck<Options extends object>(
  owner: string,
  checks: OptionChecks<Options>,
  advice: Readonly<Record<string, string>> = {},
): OptionsCheck<Options> {
  const entries = Object.entries<ArgumentCheck>(checks);
  const known: ReadonlyMap<string, ArgumentCheck> = new Map(entries);
  const listed = entries.filter(([, { isInternal }]) => !isInternal).map(([name]) => name);
  return (options, subject = owner) => {
    if (!isOptions(options)) throw notOptions(subject, options, listed);
    for (const name in options) if (!known.has(name)) throw unknownOption(subject, name, listed, advice);
    for (const [name, check] of known) {
      const value = options[name];
      if (value === undefined ? check.isRequired : !check.accepts(value))
        throw misfit(`${name} of ${subject}`, value, check);
    }
    return options;
  };
}

/** The checks of a class that has two ways to begin: `new`, with a client of the caller, and `open`, with one of its own. */
export interface OpenableChecks<Options, Given, Own> {
  readonly ofNew: OptionsCheck<Options & Given>;
  readonly ofOpen: OptionsCheck<Options & Own>;
}

/** The options of a class with `new` and `open`. */
export interface OpenableOptions<Options, Given, Own> {
  readonly common: OptionChecks<Options>;
  /** The options of `new` alone, such as a client. */
  readonly given: OptionChecks<Given>;
  /** The options of `open` alone, such as an address. */
  readonly own: OptionChecks<Own>;
  /** Other words for options, as in `{ file: 'path' }`. */
  readonly synonyms?: Readonly<Record<string, string>>;
  readonly advice?: Readonly<Record<string, string>>;
}

/** Creates the checks of a class with `new` and `open`. An option of the other way has advice of its own. */
export function openableChecks<Options extends object, Given extends object, Own extends object>(
  owner: string,
  { common, given, own, synonyms, advice }: OpenableOptions<Options, Given, Own>,
): OpenableChecks<Options, Given, Own> {
  const checksOf = <Way extends object>(
    name: string,
    way: OptionChecks<Way>,
    other: object,
    call: string,
  ): OptionsCheck<Options & Way> => {
    const words = [
      ...Object.keys(other).map((option) => [option, option] as const),
      ...Object.entries(synonyms ?? {}),
    ];
    const texts = words.map(([word, option]) => [
      word,
      Object.hasOwn(other, option) ? `use ${call}({ ${option} })` : `use "${option}"`,
    ]);
    const checks = { ...common, ...way } as OptionChecks<Options & Way>;
    return optionsCheck(name, checks, { ...Object.fromEntries(texts), ...advice });
  };
  return {
    ofNew: checksOf(owner, given, own, `${owner}.open`),
    ofOpen: checksOf(`${owner}.open`, own, given, `new ${owner}`),
  };
}

function isOptions(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function notOptions(owner: string, found: unknown, known: readonly string[]): Error {
  const message = `${owner} takes an object with options, found ${describeType(found)}.`;
  return invalidArgument(`${message} ${knownOptions(known)}`, TypeError);
}

function unknownOption(
  owner: string,
  name: string,
  known: readonly string[],
  advice: Readonly<Record<string, string>>,
): Error {
  const similar = similarName(name, known);
  const hint = Object.hasOwn(advice, name)
    ? `: ${advice[name]}.`
    : similar === undefined
      ? '.'
      : `: did you mean "${similar}"?`;
  return invalidArgument(`${owner} has no option "${name}"${hint} ${knownOptions(known)}`, TypeError);
}

function knownOptions(known: readonly string[]): string {
  return `Known options: ${known.join(', ')}.`;
}

/** Describes the type of a value. The text of a string is omitted, because it may be a secret. */
function describeType(value: unknown): string {
  return typeof value === 'string' ? 'a string' : describeValue(value);
}

/** Returns the known name that is nearest to a misspelt name, if one is near enough. */
export function similarName(name: string, known: readonly string[]): string | undefined {
  const distances = known.map((option) => ({ option, distance: nameDistance(name, option) }));
  const [nearest] = distances.toSorted((left, right) => left.distance - right.distance);
  return nearest && nearest.distance * 3 <= Math.max(name.length, nearest.option.length)
    ? nearest.option
    : undefined;
}

/**
 * Returns the edit distance of two names, or 0 when one begins with the other, as `timeoutSeconds` with `timeout`. Case
 * does not count.
 */
function nameDistance(name: string, option: string): number {
  const [left, right] = [name.toLowerCase(), option.toLowerCase()];
  const isBeginning = left.length > 2 && (right.startsWith(left) || left.startsWith(right));
  return isBeginning ? 0 : editDistance(left, right);
}

/** Counts the letters to add, remove or replace to turn one text into the other. */
export function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (const [index, letter] of [...from].entries()) {
    const next = [index + 1];
    for (let column = 1; column <= to.length; column++) {
      const replaced = (row[column - 1] as number) + (letter === to[column - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[column] as number) + 1, (next[column - 1] as number) + 1));
    }
    row = next;
  }
  return row[to.length] as number;
}

/** A hundred years. A longer duration is a mistake. */
export const MAX_SECONDS = 3_155_760_000;

/** The checks of most options, as in `maxRetries: mustBe.wholeNumber(0)`. */
export const mustBe = Object.freeze({
  /** Accepts every value, for an option that another function checks. */
  anything: check('anything', () => true),
  boolean: check('true or false', (value) => typeof value === 'boolean'),
  function: check('a function', isFunction),
  /** Accepts an object that is neither an array nor `null`. */
  object: check('an object', isOptions),
  string: check('a string', (value) => typeof value === 'string'),
  clock: check('an object with now() and newId()', (value) => hasMethods(value, ['now', 'newId'])),
  signal: check('an AbortSignal', (value) => isOptions(value) && typeof value['aborted'] === 'boolean'),
  /** Accepts a number above 0, `Infinity` included. */
  positive: check('a number above 0', (value) => typeof value === 'number' && value > 0, 'number'),
  /** Accepts a duration of more than 0 seconds and at most a hundred years. */
  seconds: check(
    'a number of seconds above 0',
    (value) => typeof value === 'number' && value > 0 && value <= MAX_SECONDS,
    'number',
  ),
  /** Accepts an instant: whole milliseconds since the Unix epoch. */
  instant: check('an instant in milliseconds since 1970', Number.isSafeInteger, 'number'),

  /** Accepts a string of 1 to `maxLength` characters of well-formed Unicode. */
  text(maxLength: number): ArgumentCheck {
    const fits = (value: unknown): boolean =>
      typeof value === 'string' && value.length > 0 && value.length <= maxLength && value.isWellFormed();
    return check(`a string of 1 to ${maxLength} characters`, fits, 'string');
  },
  /** Accepts a number within the bounds. Both bounds may be `Infinity`. */
  number(least: number, most = Infinity): ArgumentCheck {
    const fits = (value: unknown): boolean => typeof value === 'number' && value >= least && value <= most;
    return check(`a number ${bounds(least, most)}`, fits, 'number');
  },
  /** Accepts a safe integer within the bounds. */
  wholeNumber(least: number, most = Infinity): ArgumentCheck {
    const fits = (value: unknown): boolean =>
      typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most;
    return check(`a whole number ${bounds(least, most)}`, fits, 'number');
  },
  /** Accepts one of the listed words. */
  oneOf(words: readonly string[]): ArgumentCheck {
    const expected = `one of ${words.join(', ')}`;
    return check(expected, (value) => typeof value === 'string' && words.includes(value), 'string');
  },
  /** Accepts an array with only valid elements. */
  listOf(expected: string, accepts: (element: unknown) => boolean = () => true): ArgumentCheck {
    return check(`an array of ${expected}`, (value) => Array.isArray(value) && value.every(accepts));
  },
  /** Accepts an object or a function with these methods. */
  objectWith(expected: string, methods: readonly string[]): ArgumentCheck {
    return check(expected, (value) => hasMethods(value, methods));
  },
  /** Returns the check for an option that is required. */
  required: (option: ArgumentCheck): ArgumentCheck => Object.freeze({ ...option, isRequired: true }),
  /** Returns the check for a value that error messages must not show. */
  secret: (option: ArgumentCheck): ArgumentCheck => Object.freeze({ ...option, isSecret: true }),
});

function check(
  expected: string,
  accepts: (value: unknown) => boolean,
  type?: 'number' | 'string',
): ArgumentCheck {
  return Object.freeze({ expected, accepts, ...(type && { type }) });
}

function bounds(least: number, most: number): string {
  return most === Infinity ? `of at least ${least}` : `from ${least} to ${most}`;
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function';
}

/** Functions can have methods too, such as the providers of some SDKs. */
function hasMethods(value: unknown, methods: readonly string[]): boolean {
  if ((typeof value !== 'object' || value === null) && typeof value !== 'function') return false;
  return methods.every((name) => isFunction((value as Readonly<Record<string, unknown>>)[name]));
}

// Arguments that are not options

/**
 * Requires an object, so that its members can be read.
 * @throws TypeError `ARGUMENT_INVALID` for a value that is not an object.
 */
export function requireObject(value: unknown, expected: string): void {
  if (typeof value !== 'object' || value === null) throw wrongArgument(value, expected);
}

/** @throws TypeError `ARGUMENT_INVALID`. */
export function requireString(value: unknown, expected: string): void {
  if (typeof value !== 'string') throw wrongArgument(value, expected);
}

/** @throws TypeError `ARGUMENT_INVALID`. */
export function requireClock(value: Clock | null | undefined): void {
  if (typeof value?.now !== 'function' || typeof value.newId !== 'function')
    throw wrongArgument(value, 'a clock: an object with now() and newId()');
}

/** Creates the error for an argument of the wrong type. */
export function wrongArgument(value: unknown, expected: string): Error {
  return invalidArgument(`Expected ${expected}, found ${describeValue(value)}.`, TypeError);
}

// Values that become part of a state

/**
 * Returns a checked, frozen copy of a value from a caller, such as model settings.
 * @throws HoldfastError `CONTEXT_INVALID` for an invalid value, `NOT_JSON` for a value that JSON cannot hold.
 */
export function checkedCopy<T>(what: string, value: unknown, read: Read<T>): T {
  return checkedJson(what, toJsonValue(value), read);
}

/** Checks a deeply frozen value in place and returns it. Returns a checked, frozen copy of any other value. */
export function checkedValue<T>(what: string, value: T, read: Read<T>): T {
  return checkedJson(what, isDeeplyFrozen(value) ? value : toJsonValue(value), read);
}

function checkedJson<T>(what: string, json: unknown, read: Read<T>): T {
  try {
    return DocumentReader.read(json, read);
  } catch (error) {
    if (!(error instanceof StateFormatError)) throw error;
    const { message, data } = error;
    throw new HoldfastError('CONTEXT_INVALID', `The ${what} is not valid. ${message}`, {
      cause: error,
      data,
    });
  }
}

function isDeeplyFrozen(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(isDeeplyFrozen);
}
