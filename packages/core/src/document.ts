import type { ErrorCode } from './errors.ts';
import { describeValue, HoldfastError, StateFormatError } from './errors.ts';
import type { JsonObject, JsonValue } from './json.ts';
import { isJsonObject, isPlainObject, MAX_NESTING, tryFreezeJson, toJsonValue } from './json.ts';

/** Turns one place of a document into a value, or fails through the reader. */
export type Read<T> = (reader: DocumentReader, value: unknown) => T;

/** Members of a document object whose names were checked and whose values were not. */
export type Members = Readonly<Record<string, unknown>>;

/**
 * Reads a parsed JSON document strictly and knows at every moment where it is, so that each failure names the
 * path. The document is handed over: what is JSON in the result is the document's own, frozen, and not a copy.
 */
export class DocumentReader {
  /** The version of the format that the document names; that of a part which stands alone is the newest. */
  version = Infinity;
  private readonly path: (string | number)[] = [];
  private depth = 0;

  /** Reads a whole document. @throws StateFormatError naming the path of what does not fit. */
  static read<T>(document: unknown, read: Read<T>): T {
    const reader = new DocumentReader();
    try {
      return read(reader, document);
    } catch (error) {
      if (error instanceof RangeError && !('code' in error))
        return reader.fail('a document that is not nested so deeply', document);
      throw error;
    }
  }

  /** Raises the error for the present place. */
  fail(expected: string, found: unknown, code?: ErrorCode): never {
    throw new StateFormatError(this.location(), expected, describeValue(found), { code });
  }

  /** The present place, as in `$.execution.steps[3].id`. */
  location(): string {
    let text = '$';
    for (const key of this.path.slice(0, this.depth)) {
      text +=
        typeof key === 'number' ? `[${key}]` : /^[\w-]+$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
    }
    return text;
  }

  /** An object, whatever its members. */
  object(value: unknown): Members {
    return isPlainObject(value) ? value : this.fail('an object', value);
  }

  /** An object that has no members but the named ones. */
  members(value: unknown, names: ReadonlySet<string>): Members {
    if (!isPlainObject(value)) return this.fail('an object', value);
    for (const name in value) if (!names.has(name)) this.unknownMember(value, name, names);
    return value;
  }

  /** Reads a member that must be there. */
  required<T>(members: Members, name: string, read: Read<T>): T {
    this.enter(name);
    const value = read(this, members[name]);
    this.leave();
    return value;
  }

  /** Reads a member that may be absent. */
  optional<T>(members: Members, name: string, read: Read<T>): T | undefined {
    return members[name] === undefined ? undefined : this.required(members, name, read);
  }

  /** Reads every element of an array. */
  list<T>(value: unknown, read: Read<T>): T[] {
    if (!Array.isArray(value)) return this.fail('an array', value);
    const result: T[] = [];
    for (let index = 0; index < value.length; index++) {
      this.enter(index);
      result.push(read(this, value[index]));
      this.leave();
    }
    return result;
  }

  /** The same, frozen, of an array that is left out when it is empty. */
  nonEmptyList<T>(value: unknown, read: Read<T>): readonly T[] {
    const result = this.list(value, read);
    return result.length > 0
      ? Object.freeze(result)
      : this.fail('no such member, or one that says something', value);
  }

  /** Reads every member of an object whose names are free. */
  entries<T>(value: unknown, read: Read<T>): [string, T][] {
    if (!isPlainObject(value)) return this.fail('an object', value);
    const result: [string, T][] = [];
    for (const name of Object.keys(value)) result.push([name, this.required(value, name, read)]);
    return result;
  }

  /** Raises the error for a member that no reader knows. */
  unknownMember(members: Members, name: string, known: Iterable<string>): never {
    this.enter(name);
    return this.fail(`one of ${[...known].join(', ')}`, members[name]);
  }

  /** Refuses a member that the format has only from a version on, in a document of an older one. */
  requireVersion(version: number, members: Members, name: string): void {
    if (members[name] === undefined || this.version >= version) return;
    this.enter(name);
    this.fail(`no such member before version ${version}`, members[name]);
  }

  /** Goes on to a member or an element. */
  enter(key: string | number): void {
    this.path[this.depth++] = key;
  }

  /** Comes back from it. */
  leave(): void {
    this.depth--;
  }
}

function isEmptyValue(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return value === false || value === 0;
  if (Array.isArray(value)) return value.length === 0;
  for (const _ in value) return false;
  return true;
}

/** Refuses an explicit `false`, 0, `[]` or `{}`: what says nothing is left out, so that one value has one document. */
export function readNonEmpty<T>(read: Read<T>): Read<T> {
  return (reader, value) =>
    isEmptyValue(value)
      ? reader.fail('no such member, or one that says something', value)
      : read(reader, value);
}

/** A string. */
export const readString: Read<string> = (reader, value) =>
  typeof value === 'string' ? value : reader.fail('a string', value);

/** A boolean. */
export const readBoolean: Read<boolean> = (reader, value) =>
  typeof value === 'boolean' ? value : reader.fail('true or false', value);

/** A flag that is left out when it is not set. */
export const readTrue: Read<true> = (reader, value) =>
  value === true ? value : reader.fail('true, or no such member', value);

/** A finite number, and not a negative zero, which JSON text written by us does not have. */
export const readNumber: Read<number> = (reader, value) =>
  typeof value === 'number' && Number.isFinite(value) && !Object.is(value, -0)
    ? value
    : reader.fail('a number', value);

/** A finite number of at least 0. */
export const readAmount: Read<number> = (reader, value) => {
  const amount = readNumber(reader, value);
  return amount >= 0 ? amount : reader.fail('a number of at least 0', value);
};

/** A whole number of at least 0. */
export const readCount: Read<number> = (reader, value) =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && !Object.is(value, -0)
    ? value
    : reader.fail('a whole number of at least 0', value);

/** A moment: whole milliseconds since the Unix epoch. */
export const readInstant: Read<number> = (reader, value) =>
  isInstant(value) ? value : reader.fail('whole milliseconds since 1970', value);

export function isInstant(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && !Object.is(value, -0);
}

/** One of the listed strings. */
export function readOneOf<const T extends string>(choices: readonly T[]): Read<T> {
  const known = new Map<unknown, T>(choices.map((choice) => [choice, choice]));
  const expected = choices.map((choice) => `"${choice}"`).join(' or ');
  return (reader, value) => known.get(value) ?? reader.fail(expected, value);
}

/** Any JSON value, taken over as it is and frozen. */
export const readJson: Read<JsonValue> = (reader, value) => {
  // The second look is for what does not fit: it knows where that is.
  if (!tryFreezeJson(value)) freezeJson(reader, value, MAX_NESTING);
  return value as JsonValue;
};

function freezeJson(reader: DocumentReader, value: unknown, levels: number): void {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return;
  if (typeof value === 'number' && Number.isFinite(value) && !Object.is(value, -0)) return;
  if (typeof value !== 'object') reader.fail('a JSON value', value);
  if (levels === 0) reader.fail(`at most ${MAX_NESTING} levels of nesting`, value);
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      reader.enter(index);
      freezeJson(reader, value[index], levels - 1);
      reader.leave();
    }
  } else {
    const members = reader.object(value);
    for (const name in members) {
      reader.enter(name);
      freezeJson(reader, members[name], levels - 1);
      reader.leave();
    }
  }
  Object.freeze(value);
}

/** How to read the members of an object that has no others, and which of them must be there. */
export interface Shape<T> {
  readonly members: ReadonlyMap<string, ShapeMember>;
  /** How many of them must be there. */
  readonly required: number;
  /** Never there at run time: it carries the type. */
  readonly type?: T;
}

interface ShapeMember {
  readonly read: Read<unknown>;
  readonly isRequired: boolean;
}

/** Readers by member name; a member whose name ends in `?` may be absent. */
export type Readers = Readonly<Record<string, Read<unknown>>>;

/** The object that readers accept. */
export type Shaped<R extends Readers> = {
  readonly [Name in keyof R as Name extends `${string}?` ? never : Name]: ReturnType<R[Name]>;
} & {
  readonly [Name in keyof R as Name extends `${infer Bare}?` ? Bare : never]?: ReturnType<R[Name]>;
};

/** The shape that readers make. */
export function shapeOf<const R extends Readers>(readers: R): Shape<Shaped<R>> {
  const members = new Map<string, ShapeMember>();
  let required = 0;
  for (const [name, read] of Object.entries(readers)) {
    const isRequired = !name.endsWith('?');
    if (isRequired) required++;
    members.set(isRequired ? name : name.slice(0, -1), { read, isRequired });
  }
  return { members, required };
}

/** An object of a shape, taken over as it is and frozen. */
export function readShape<T>(reader: DocumentReader, value: unknown, shape: Shape<T>): T {
  return readMembers(reader, reader.object(value), shape);
}

/** A reader of objects of a shape, taken over as they are and frozen. */
export function shapeReader<const R extends Readers>(readers: R): Read<Shaped<R>> {
  const shape = shapeOf(readers);
  return (reader, value) => readShape(reader, value, shape);
}

/** A reader of objects of a shape into frozen copies. Equal objects come out with their members in the same order. */
export function orderedReader<const R extends Readers>(readers: R): Read<Shaped<R>> {
  const shape = [...shapeOf(readers).members];
  const names = new Set(shape.map(([name]) => name));
  return (reader, value) => {
    const members = reader.members(value, names);
    const copy: Record<string, unknown> = {};
    for (const [name, { read, isRequired }] of shape) {
      if (isRequired || members[name] !== undefined) copy[name] = reader.required(members, name, read);
    }
    return Object.freeze(copy) as Shaped<R>;
  };
}

/** Shapes by the value of the member that tells them apart. */
export type Shapes = Readonly<Record<string, Shape<object>>>;

/** An object of one of the shapes, with the value that chose it. */
export type Variant<Choice extends string, S extends Shapes> = {
  [Value in keyof S]: S[Value] extends Shape<infer T> ? T & { readonly [Name in Choice]: Value } : never;
}[keyof S];

/** A reader of objects whose shape a member chooses, such as `type`. */
export function readVariant<Choice extends string, S extends Shapes>(
  choice: Choice,
  shapes: S,
): Read<Variant<Choice, S>> {
  const known = new Map<unknown, Shape<object>>(Object.entries(shapes));
  const readChoice = readOneOf(Object.keys(shapes));
  return (reader, value) => {
    const document = reader.object(value);
    const shape = known.get(document[choice]);
    if (shape === undefined) return reader.required(document, choice, readChoice) as never;
    return readMembers(reader, document, shape as Shape<Variant<Choice, S>>);
  };
}

function readMembers<T>(reader: DocumentReader, document: Members, shape: Shape<T>): T {
  let missing = shape.required;
  for (const name in document) {
    const member = shape.members.get(name);
    if (member === undefined) return reader.unknownMember(document, name, shape.members.keys());
    if (member.isRequired) missing--;
    reader.enter(name);
    member.read(reader, document[name]);
    reader.leave();
  }
  if (missing > 0) failForMissing(reader, document, shape);
  return Object.freeze(document) as T;
}

function failForMissing(reader: DocumentReader, document: Members, { members }: Shape<unknown>): void {
  for (const [name, { isRequired }] of members) {
    if (isRequired && !Object.hasOwn(document, name)) reader.required(document, name, readMissing);
  }
}

const readMissing: Read<never> = (reader, value) => reader.fail('a value', value);

/** A list of one kind, taken over as it is and frozen. */
export function readFrozenList<T>(read: Read<T>): Read<readonly T[]> {
  return (reader, value) => {
    if (!Array.isArray(value)) return reader.fail('an array', value);
    for (let index = 0; index < value.length; index++) {
      reader.enter(index);
      read(reader, value[index]);
      reader.leave();
    }
    return Object.freeze(value as T[]);
  };
}

/** An object of free names and values of one kind, taken over as it is and frozen. */
export function readFrozenRecord<T>(read: Read<T>): Read<Readonly<Record<string, T>>> {
  return (reader, value) => {
    reader.entries(value, read);
    return Object.freeze(value as Record<string, T>);
  };
}

/**
 * Checks a copy of a value that a caller passed in, such as an LLM configuration.
 * @throws HoldfastError `CONTEXT_INVALID`.
 */
export function checkedCopy<T>(what: string, value: unknown, read: Read<T>): T {
  return asContextInvalid(what, () => DocumentReader.read(toJsonValue(value), read));
}

function asContextInvalid<T>(what: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof StateFormatError)) throw error;
    throw new HoldfastError('CONTEXT_INVALID', `The ${what} is not valid. ${error.message}`, {
      cause: error,
      data: error.data,
    });
  }
}

/** The same for a value that may be frozen through and through: it is checked where it is, and keeps its identity. */
export function checkedValue<T>(what: string, value: T, read: Read<T>): T {
  if (!isDeeplyFrozen(value)) return checkedCopy(what, value, read);
  return asContextInvalid(what, () => DocumentReader.read(value, read));
}

function isDeeplyFrozen(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (!Object.isFrozen(value)) return false;
  for (const member of Object.values(value)) if (!isDeeplyFrozen(member)) return false;
  return true;
}

/** A JSON object, taken over as it is and frozen. */
export const readJsonObject: Read<JsonObject> = (reader, value) => {
  const copy = readJson(reader, value);
  return isJsonObject(copy) ? copy : reader.fail('an object', value);
};
