import { describeValue, HoldfastError } from './errors.ts';

/** A value that JSON can hold. Values of this type inside a state are deeply frozen. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
/** A JSON object. */
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/**
 * The deepest nesting of a JSON value. The limit is fixed, so that a process can read what another process has written,
 * however much of its stack is free.
 */
export const MAX_NESTING = 1_024;

/**
 * Returns a deeply frozen copy of `value` by the rules of `JSON.stringify`: `toJSON` is called, `undefined` members are
 * omitted, `NaN` and infinities become `null`. A value that is frozen JSON already is returned as it is.
 * @throws HoldfastError `NOT_JSON` for a BigInt, a cycle, more than 1,024 levels of nesting, or an object whose content
 * JSON would lose, such as a Map, an Error or a Response.
 */
export function toJsonValue(value: unknown): JsonValue {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value;
  if (Object.isFrozen(value) && isFrozenJson(value, 0)) return value as JsonValue;
  try {
    return copyLenient(value, '', 0) ?? null;
  } catch (error) {
    if (error instanceof HoldfastError) throw error;
    throw new HoldfastError('NOT_JSON', 'The value cannot be converted to JSON.', { cause: error });
  }
}

/** True for deeply frozen JSON, which needs no copy. */
function isFrozenJson(value: unknown, depth: number): boolean {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return true;
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0);
  if (typeof value !== 'object' || depth >= MAX_NESTING || !Object.isFrozen(value)) return false;
  const members: Record<string, PropertyDescriptor> = Object.getOwnPropertyDescriptors(value);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (Array.isArray(value)) {
    if (prototype !== Array.prototype || Object.keys(value).length !== value.length) return false;
    delete members['length'];
  } else if (prototype !== Object.prototype) return false;
  return Object.values(members).every(
    (member) => member.enumerable === true && isFrozenJson(member.value, depth + 1),
  );
}

/**
 * Returns a deeply frozen copy of an object, such as metadata or provider options, as `toJsonValue` does.
 * @throws HoldfastError `NOT_JSON` for a value that is not an object, and as `toJsonValue`.
 */
export function toJsonObject(value: unknown): JsonObject {
  const copy = toJsonValue(value);
  if (isJsonObject(copy)) return copy;
  throw new HoldfastError('NOT_JSON', `Expected an object, found ${describeValue(value)}.`);
}

/**
 * True when two JSON values have the same JSON text. The order of members counts, because it may matter to a provider.
 */
export function isSameJson(left: unknown, right: unknown): boolean {
  return left === right || JSON.stringify(left) === JSON.stringify(right);
}

/** True when two JSON values are equal, whatever the order of their members. */
export function isEqualJson(left: JsonValue | undefined, right: JsonValue | undefined): boolean {
  return alikeJson(left, right, (one, other) => one === other);
}

/** True when two JSON values have the same members, at every level, with values of the same types. */
export function hasSameShape(left: JsonValue | undefined, right: JsonValue | undefined): boolean {
  return alikeJson(left, right, (one, other) => typeof one === typeof other);
}

function alikeJson(
  left: JsonValue | undefined,
  right: JsonValue | undefined,
  areAlike: (left: JsonValue | undefined, right: JsonValue | undefined) => boolean,
): boolean {
  if (left === right) return true;
  if (Array.isArray(left) && Array.isArray(right))
    return left.length === right.length && left.every((item, at) => alikeJson(item, right[at], areAlike));
  if (!isJsonObject(left) || !isJsonObject(right))
    return typeof left !== 'object' && typeof right !== 'object' && areAlike(left, right);
  const names = Object.keys(left);
  if (names.length !== Object.keys(right).length) return false;
  return names.every((name) => Object.hasOwn(right, name) && alikeJson(left[name], right[name], areAlike));
}

/** True for a JSON object, which is neither `null` nor an array. */
export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function copyLenient(value: unknown, key: string, depth: number): JsonValue | undefined {
  const json = hasToJson(value) ? value.toJSON(key) : value;
  switch (typeof json) {
    case 'string':
    case 'boolean':
      return json;
    case 'number':
      return Number.isFinite(json) ? json + 0 : null;
    case 'object':
      return json === null ? null : copyObject(json, key, depth);
    case 'bigint':
      throw new HoldfastError(
        'NOT_JSON',
        `A BigInt${key && ` in "${key}"`} is not JSON. Convert it to a string or a number.`,
      );
    default:
      return undefined;
  }
}

function hasToJson(value: unknown): value is { toJSON(key: string): unknown } {
  return (
    typeof value === 'object' && value !== null && 'toJSON' in value && typeof value.toJSON === 'function'
  );
}

function copyObject(value: object, key: string, depth: number): JsonValue | undefined {
  if (depth >= MAX_NESTING) {
    throw new HoldfastError(
      'NOT_JSON',
      `The value has more than ${MAX_NESTING} levels of nesting, or contains itself.`,
    );
  }
  if (value instanceof String || value instanceof Number || value instanceof Boolean) {
    return copyLenient(value.valueOf(), key, depth);
  }
  if (isLost(value)) throw lostValue(value, key);
  if (Array.isArray(value)) {
    const items: JsonValue[] = [];
    for (let index = 0; index < value.length; index++) {
      items.push(copyLenient(value[index], String(index), depth + 1) ?? null);
    }
    return Object.freeze(items);
  }
  const members: Record<string, JsonValue> = {};
  for (const name of Object.keys(value)) {
    const copy = copyLenient((value as Record<string, unknown>)[name], name, depth + 1);
    if (copy !== undefined) setMember(members, name, copy);
  }
  return Object.freeze(members);
}

/** True for an object of which JSON would hold nothing, or not the part that matters. */
function isLost(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === Array.prototype || isPlainObject(value)) return false;
  if (value instanceof Error || ArrayBuffer.isView(value)) return true;
  return !Array.isArray(value) && typeOf(value) !== 'Object' && Object.keys(value).length === 0;
}

function typeOf(value: object): string {
  return Object.prototype.toString.call(value).slice('[object '.length, -1);
}

/** The conversion for each type of objects that JSON loses. */
const CONVERSIONS: Readonly<Record<string, string>> = {
  Error: 'Throw it, or convert its message.',
  Map: 'Convert it with Object.fromEntries().',
  Set: 'Convert it with Array.from().',
  Response: 'Convert its content with `await response.json()`, or with `text()`.',
  Headers: 'Convert it with Object.fromEntries().',
  FormData: 'Convert it with Object.fromEntries().',
  URLSearchParams: 'Convert it with String().',
  Promise: 'Await it.',
  ArrayBuffer: 'Convert it to base64.',
  Blob: 'Convert its content with `await blob.text()`.',
};

function lostValue(value: object, key: string): HoldfastError {
  const type = value instanceof Error ? 'Error' : ArrayBuffer.isView(value) ? 'ArrayBuffer' : typeOf(value);
  const advice = CONVERSIONS[type] ?? 'Convert it to a text or to an object with plain members.';
  const place = key && ` in "${key}"`;
  return new HoldfastError('NOT_JSON', `JSON cannot hold the ${describeLost(value)}${place}. ${advice}`);
}

/** Describes an object that JSON loses, as in `Map` or `TypeError (no such user)`. */
function describeLost(value: object): string {
  const { message, status, statusText } = shownMembers(value);
  const facts = [status, statusText, message].filter((fact) => fact !== undefined && fact !== '').join(' ');
  return `${value instanceof Error ? value.name : typeOf(value)}${facts && ` (${facts})`}`;
}

function shownMembers(value: object): { readonly [name: string]: unknown } {
  if (value instanceof Error) return { message: value.message };
  const { status, statusText } = value as { readonly status?: unknown; readonly statusText?: unknown };
  return { status, statusText };
}

/** The characters of a thrown value that an error quotes. */
const MAX_QUOTED = 4_000;

/** Returns the text of any thrown value: a string, the JSON of another value, or the type of one that JSON loses. */
export function textOfThrown(thrown: unknown): string {
  const text = wholeText(thrown);
  return text.length <= MAX_QUOTED ? text : `${text.slice(0, MAX_QUOTED).toWellFormed()}…`;
}

function wholeText(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown;
  try {
    const isObject = typeof thrown === 'object' && thrown !== null;
    return isObject && isLost(thrown) ? describeLost(thrown) : (JSON.stringify(thrown) ?? String(thrown));
  } catch {
    return `The thrown value is not an error: ${describeValue(thrown)}.`;
  }
}

/** Sets a member, also one named `__proto__`, which an assignment would set as the prototype. */
export function setMember(target: Record<string, JsonValue>, key: string, value: JsonValue): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  } else target[key] = value;
}

/** Returns a frozen copy without the members that are `undefined`. */
export function compact<T extends object>(fields: T): Compact<T> {
  const result: Record<string, unknown> = {};
  for (const key in fields) if (fields[key] !== undefined) result[key] = fields[key];
  return Object.freeze(result) as Compact<T>;
}

/** An object whose members are absent instead of `undefined`. */
type Compact<T> = {
  readonly [Name in keyof T as undefined extends T[Name] ? never : Name]: T[Name];
} & {
  readonly [Name in keyof T as undefined extends T[Name] ? Name : never]?: Exclude<T[Name], undefined>;
};

/** Returns the names of a table. */
export function namesOf<Name extends string>(table: { readonly [N in Name]: unknown }): readonly Name[] {
  return Object.keys(table) as Name[];
}

/** True for an object from a literal, from `JSON.parse` or from another realm. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // The second test accepts an object of another realm, which has another Object.prototype.
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Freezes a JSON value deeply. Returns false at the first part that is not JSON. */
export function tryFreezeJson(value: unknown, levels = MAX_NESTING): boolean {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return true;
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0);
  if (typeof value !== 'object' || levels === 0) return false;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++)
      if (!tryFreezeJson(value[index], levels - 1)) return false;
  } else {
    if (!isPlainObject(value)) return false;
    for (const name in value) if (!tryFreezeJson(value[name], levels - 1)) return false;
  }
  Object.freeze(value);
  return true;
}

/** Digits that every double holds. A longer whole number can lose some. */
const SAFE_DIGITS = 15;
/** Digits of the largest double. */
const MAX_DIGITS = 309;

/**
 * Returns the first whole number of a JSON text that `JSON.parse` would round, with the digits of the text; `undefined` for
 * a text without such a number. Other programs write them, for example as ids: JavaScript holds whole numbers up to 2^53.
 * `JSON.stringify` never writes them.
 */
export function roundedInteger(text: string): string | undefined {
  return hasLongNumber(text) ? firstRoundedInteger(text) : undefined;
}

/** True when 16 digits follow one another, inside of strings too. It reads every sixteenth position, which such digits cross. */
function hasLongNumber(text: string): boolean {
  for (let at = SAFE_DIGITS; at < text.length; at += SAFE_DIGITS + 1) {
    if (!isDigitAt(text, at)) continue;
    let [start, end] = [at, at + 1];
    while (isDigitAt(text, start - 1)) start--;
    while (isDigitAt(text, end)) end++;
    if (end - start > SAFE_DIGITS) return true;
  }
  return false;
}

/** Reads the text once. Outside of strings, a number begins with the first digit. */
function firstRoundedInteger(text: string): string | undefined {
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '"') at = endOfString(text, at);
    else if (isDigitAt(text, at)) {
      const start = at;
      while (isDigitAt(text, at + 1) || '.eE+-'.includes(text[at + 1] ?? ' ')) at++;
      const number = text.slice(start, at + 1);
      if (isRounded(number)) return text[start - 1] === '-' ? `-${number}` : number;
    }
  }
  return undefined;
}

/** Returns the position of the quotation mark that ends a string. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}

/** True for the digits of a whole number that `JSON.stringify` would not write again. */
function isRounded(number: string): boolean {
  if (number.length <= SAFE_DIGITS || !/^\d+$/.test(number)) return false;
  if (number.length > MAX_DIGITS) return true;
  const value = Number(number);
  return String(value) !== number && (value === Infinity || BigInt(value) !== BigInt(number));
}

function isDigitAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 48 && code <= 57;
}

const encoder = new TextEncoder();

/** Returns the length of a text in UTF-8. */
export function bytesOf(text: string): number {
  return encoder.encode(text).length;
}

/** True when a text has at most this length in UTF-8. */
export function fitsIn(maxBytes: number, text: string): boolean {
  return text.length * 3 <= maxBytes || bytesOf(text) <= maxBytes; // a UTF-16 unit takes at most 3 bytes
}
