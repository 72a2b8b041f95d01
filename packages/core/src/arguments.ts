import type { Clock } from './clock.ts';
import { describeValue, invalidArgument } from './errors.ts';

/** What an argument or an option must be. */
export interface ArgumentCheck {
  /** Completes the sentence "maxRetries must be …". */
  readonly expected: string;
  /** Does the value fit? */
  readonly accepts: (value: unknown) => boolean;
  /** A value of this type that does not fit is out of range: a RangeError, where other values are a TypeError. */
  readonly type?: 'number' | 'string';
  /** The option has no default. */
  readonly isRequired?: boolean;
  /** Errors do not show the value. */
  readonly isSecret?: boolean;
  /** Errors do not list the option: only the framework sets it. */
  readonly isInternal?: boolean;
}

/** A check for each option of a function. */
export type OptionChecks<Options> = { readonly [Name in keyof Options]-?: ArgumentCheck };

/**
 * Returns the value if it passes the check.
 * @throws RangeError or TypeError `ARGUMENT_INVALID` that says what the argument must be, and what was found.
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
 * Checks the options that a function was given, and returns them. `owner` is the function in messages, when it is another
 * than usual, such as `tool "add"`.
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for what is not an object, an option that the function does not have,
 * a value that does not fit, and a required option that is missing.
 */
export type OptionsCheck<Options> = <Given extends Options>(options: Given, owner?: string) => Given;

/**
 * Makes the check of the options of one function or class. Make it once, beside the function.
 * @param owner how callers write the function, such as `createAgentLoop`
 * @param advice what to write instead of an option that the function does not have, by its name
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

/** The type of a value, without what may be a secret in it. */
function describeType(value: unknown): string {
  return typeof value === 'string' ? 'a string' : describeValue(value);
}

/** The name that was probably meant, if one is near enough. */
export function similarName(name: string, known: readonly string[]): string | undefined {
  const distances = known.map((option) => ({ option, distance: nameDistance(name, option) }));
  const [nearest] = distances.toSorted((left, right) => left.distance - right.distance);
  return nearest && nearest.distance * 3 <= Math.max(name.length, nearest.option.length)
    ? nearest.option
    : undefined;
}

/** 0 when one name begins with the other, in any case: `timeout` is nearly `timeoutSeconds`. */
function nameDistance(name: string, option: string): number {
  const [left, right] = [name.toLowerCase(), option.toLowerCase()];
  const isBeginning = left.length > 2 && (right.startsWith(left) || left.startsWith(right));
  return isBeginning ? 0 : editDistance(left, right);
}

/** How many letters must be added, removed or replaced to make one text of the other. */
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

/** A hundred years: what is longer is a mistake, and beyond what a date can hold. */
const MAX_SECONDS = 3_155_760_000;

/** The checks that most options need, as in `maxRetries: mustBe.wholeNumber(0)`. */
export const mustBe = Object.freeze({
  /** For a value that another function checks. */
  anything: check('anything', () => true),
  boolean: check('true or false', (value) => typeof value === 'boolean'),
  function: check('a function', isFunction),
  /** Neither an array nor `null`. */
  object: check('an object', isOptions),
  string: check('a string', (value) => typeof value === 'string'),
  clock: check('an object with now() and newId()', (value) => hasMethods(value, ['now', 'newId'])),
  signal: check('an AbortSignal', (value) => isOptions(value) && typeof value['aborted'] === 'boolean'),
  /** It may be `Infinity`. */
  positive: check('a number above 0', (value) => typeof value === 'number' && value > 0, 'number'),
  /** A duration of more than 0 seconds, and at most a hundred years. */
  seconds: check(
    'a number of seconds above 0',
    (value) => typeof value === 'number' && value > 0 && value <= MAX_SECONDS,
    'number',
  ),
  /** Whole milliseconds since the Unix epoch. */
  instant: check('an instant in milliseconds since 1970', Number.isSafeInteger, 'number'),

  /** A string of well-formed Unicode that is not empty. */
  text(maxLength: number): ArgumentCheck {
    const fits = (value: unknown): boolean =>
      typeof value === 'string' && value.length > 0 && value.length <= maxLength && value.isWellFormed();
    return check(`a text of 1 to ${maxLength} characters`, fits, 'string');
  },
  /** A number within the bounds, which may be `Infinity`. */
  number(least: number, most = Infinity): ArgumentCheck {
    const fits = (value: unknown): boolean => typeof value === 'number' && value >= least && value <= most;
    return check(`a number ${bounds(least, most)}`, fits, 'number');
  },
  /** A safe integer within the bounds. */
  wholeNumber(least: number, most = Infinity): ArgumentCheck {
    const fits = (value: unknown): boolean =>
      typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most;
    return check(`a whole number ${bounds(least, most)}`, fits, 'number');
  },
  /** One of a few words. */
  oneOf(words: readonly string[]): ArgumentCheck {
    const expected = `one of ${words.join(', ')}`;
    return check(expected, (value) => typeof value === 'string' && words.includes(value), 'string');
  },
  /** An array whose elements all fit. */
  listOf(expected: string, accepts: (element: unknown) => boolean = () => true): ArgumentCheck {
    return check(`an array of ${expected}`, (value) => Array.isArray(value) && value.every(accepts));
  },
  /** An object that has these methods. */
  objectWith(expected: string, methods: readonly string[]): ArgumentCheck {
    return check(expected, (value) => hasMethods(value, methods));
  },
  /** The same for an option that must be given. */
  required: (option: ArgumentCheck): ArgumentCheck => Object.freeze({ ...option, isRequired: true }),
  /** The same for a value that no error may show. */
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

/** A function can have methods too, such as the providers of some SDKs. */
function hasMethods(value: unknown, methods: readonly string[]): boolean {
  if ((typeof value !== 'object' || value === null) && typeof value !== 'function') return false;
  return methods.every((name) => isFunction((value as Readonly<Record<string, unknown>>)[name]));
}

// Arguments that are not options

/** Refuses what has no members to look at, such as options. @throws TypeError `ARGUMENT_INVALID`. */
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

/** The error for an argument of the wrong kind. */
export function wrongArgument(value: unknown, expected: string): Error {
  return invalidArgument(`Expected ${expected}, found ${describeValue(value)}.`, TypeError);
}
