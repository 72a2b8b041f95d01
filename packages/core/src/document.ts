import { describeValue, StateFormatError, type ErrorCode } from './errors.ts';
import {
  isJsonObject,
  isPlainObject,
  MAX_NESTING,
  tryFreezeJson,
  type JsonObject,
  type JsonValue,
} from './json.ts';

/** Reads the value at the current path of the reader, or fails through the reader. */
export type Read<T> = (reader: DocumentReader, value: unknown) => T;

/** The members of a document object. Their names are checked, their values are not. */
export type Members = Readonly<Record<string, unknown>>;

/** The names of members: a set of them, or the members of a shape. */
type Names = Pick<ReadonlySet<string>, 'has' | 'keys'>;

/**
 * Reads a parsed JSON document strictly. The reader tracks its path in the document, and each failure names that path.
 * JSON values of the document become part of the result: the reader freezes them and does not copy them.
 */
export class DocumentReader {
  /** The format version of the document; `Infinity` for a part that is read alone. */
  version = Infinity;
  private readonly path: (string | number)[] = [];
  private depth = 0;

  /** Reads a whole document. @throws StateFormatError with the path of the invalid value. */
  static read<T>(document: unknown, read: Read<T>): T {
    const reader = new DocumentReader();
    try {
      return read(reader, document);
    } catch (error) {
      if (error instanceof RangeError && !('code' in error))
        return reader.fail('a document with fewer levels of nesting', document);
      throw error;
    }
  }

  /** Throws the error for the current path. */
  fail(expected: string, found: unknown, code?: ErrorCode): never {
    throw new StateFormatError(this.location(), expected, describeValue(found), { code });
  }

  /** Returns the current path, as in `$.execution.steps[3].id`. */
  location(): string {
    let text = '$';
    for (const key of this.path.slice(0, this.depth)) {
      text +=
        typeof key === 'number' ? `[${key}]` : /^[\w-]+$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
    }
    return text;
  }

  /** Requires an object, with any members. */
  object(value: unknown): Members {
    return isPlainObject(value) ? value : this.fail('an object', value);
  }

  /** Requires an object, with members of the given names only. */
  members(value: unknown, names: Names): Members {
    if (!isPlainObject(value)) return this.fail('an object', value);
    for (const name in value) if (!names.has(name)) this.unknownMember(value, name, names);
    return value;
  }

  /** Reads a required member. */
  required<T>(members: Members, name: string, read: Read<T>): T {
    this.enter(name);
    const value = read(this, members[name]);
    this.leave();
    return value;
  }

  /** Reads an optional member; `undefined` when it is absent. */
  optional<T>(members: Members, name: string, read: Read<T>): T | undefined {
    return members[name] === undefined ? undefined : this.required(members, name, read);
  }

  /** Reads every element of an array, whose first element has the index `from`. */
  list<T>(value: unknown, read: Read<T>, from = 0): T[] {
    if (!Array.isArray(value)) return this.fail('an array', value);
    const result: T[] = [];
    for (let index = 0; index < value.length; index++) {
      this.enter(from + index);
      result.push(read(this, value[index]));
      this.leave();
    }
    return result;
  }

  /** Reads every member of an object that may have any names. */
  entries<T>(value: unknown, read: Read<T>): [string, T][] {
    if (!isPlainObject(value)) return this.fail('an object', value);
    const result: [string, T][] = [];
    for (const name of Object.keys(value)) result.push([name, this.required(value, name, read)]);
    return result;
  }

  /** Throws the error for an unknown member. */
  unknownMember(members: Members, name: string, known: Names): never {
    this.enter(name);
    return this.fail(`one of ${[...known.keys()].join(', ')}`, members[name]);
  }

  /** Moves the path to a member or an element. */
  enter(key: string | number): void {
    this.path[this.depth++] = key;
  }

  /** Moves the path back to the parent. */
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

/**
 * Returns a reader that refuses an explicit `false`, 0, `[]` or `{}`. Writers omit empty values, so that equal values
 * have equal documents.
 */
export function readNonEmpty<T>(read: Read<T>): Read<T> {
  return (reader, value) =>
    isEmptyValue(value) ? reader.fail('a non-empty value, or an omitted member', value) : read(reader, value);
}

/** Returns a reader of frozen lists, which refuses an empty list: writers omit it. */
export function readFilledList<T>(read: Read<T>): Read<readonly T[]> {
  return (reader, value) => {
    const list = reader.list(value, read);
    return list.length > 0
      ? Object.freeze(list)
      : reader.fail('a non-empty value, or an omitted member', value);
  };
}

export const readString: Read<string> = (reader, value) =>
  typeof value === 'string' ? value : reader.fail('a string', value);

export const readBoolean: Read<boolean> = (reader, value) =>
  typeof value === 'boolean' ? value : reader.fail('true or false', value);

/** Reads a flag that writers omit when it is not set. */
export const readTrue: Read<true> = (reader, value) =>
  value === true ? value : reader.fail('true, or an omitted member', value);

/** Reads a finite number. Refuses negative zero, which writers never write. */
export const readNumber: Read<number> = (reader, value) =>
  typeof value === 'number' && Number.isFinite(value) && !Object.is(value, -0)
    ? value
    : reader.fail('a number', value);

/** Reads a finite number of at least 0. */
export const readAmount: Read<number> = (reader, value) => {
  const amount = readNumber(reader, value);
  return amount >= 0 ? amount : reader.fail('a number of at least 0', value);
};

/** Reads a whole number of at least 0. */
export const readCount: Read<number> = (reader, value) =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && !Object.is(value, -0)
    ? value
    : reader.fail('a whole number of at least 0', value);

/** Reads an instant: whole milliseconds since the Unix epoch. */
export const readInstant: Read<number> = (reader, value) =>
  isInstant(value) ? value : reader.fail('whole milliseconds since 1970', value);

export function isInstant(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && !Object.is(value, -0);
}

/** Returns a reader of the listed strings. */
export function readOneOf<const T extends string>(choices: readonly T[]): Read<T> {
  const known = new Map<unknown, T>(choices.map((choice) => [choice, choice]));
  const expected = choices.map((choice) => `"${choice}"`).join(' or ');
  return (reader, value) => known.get(value) ?? reader.fail(expected, value);
}

/** Returns a reader of a member that the format has since a version. */
export function since<T>(version: number, read: Read<T>): Read<T> {
  return (reader, value) =>
    reader.version < version
      ? reader.fail(`no such member before version ${version}`, value)
      : read(reader, value);
}

/** Stands for the reader of a member that its class reads itself, because the value depends on other members. */
export const byClass: Read<never> = (reader, value) => reader.fail('a member that its class reads', value);

/** Reads any JSON value and freezes it in place. */
export const readJson: Read<JsonValue> = (reader, value) => {
  // Only an invalid value needs the second pass, which finds its path.
  if (!tryFreezeJson(value)) freezeJson(reader, value, MAX_NESTING);
  return value as JsonValue;
};

function freezeJson(reader: DocumentReader, value: unknown, levels: number): void {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return;
  if (typeof value === 'number' && Number.isFinite(value) && !Object.is(value, -0)) return;
  if (typeof value !== 'object') reader.fail('a JSON value', value);
  if (levels === 0) reader.fail(`at most ${MAX_NESTING} levels of nesting`, value);
  const freeze: Read<void> = (_, inner) => freezeJson(reader, inner, levels - 1);
  if (Array.isArray(value)) reader.list(value, freeze);
  else reader.entries(value, freeze);
  Object.freeze(value);
}

/** The readers of all members of an object, and which members are required. */
export interface Shape<T> {
  readonly members: ReadonlyMap<string, ShapeMember>;
  /** The number of required members. */
  readonly required: number;
  /** Never set at run time. It carries the type. */
  readonly type?: T;
}

interface ShapeMember {
  readonly read: Read<unknown>;
  readonly isRequired: boolean;
}

/** Readers by member name. A member whose name ends in `?` is optional. */
export type Readers = Readonly<Record<string, Read<unknown>>>;

/** The type of the objects that the readers accept. */
export type Shaped<R extends Readers> = {
  readonly [Name in keyof R as Name extends `${string}?` ? never : Name]: ReturnType<R[Name]>;
} & {
  readonly [Name in keyof R as Name extends `${infer Bare}?` ? Bare : never]?: ReturnType<R[Name]>;
};

/**
 * The members of a class, from the shape of its document, without those that the class reads itself. `Defaulted` members
 * have a value when the document omits them.
 */
export type Fields<S, Defaulted extends string = never> =
  S extends Shape<infer T>
    ? {
        readonly [N in OwnName<T>]: N extends RequiredName<T> | Defaulted
          ? Exclude<T[N], undefined>
          : T[N] | undefined;
      }
    : never;

type RequiredName<T> = { [N in keyof T]-?: Partial<Pick<T, N>> extends Pick<T, N> ? never : N }[keyof T];
type OwnName<T> = { [N in keyof T]-?: [Exclude<T[N], undefined>] extends [never] ? never : N }[keyof T];

/** Returns the shape of the objects that the readers accept. */
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

/** Reads an object of a shape and freezes it in place. */
export function readShape<T>(reader: DocumentReader, value: unknown, shape: Shape<T>): T {
  return readMembers(reader, reader.object(value), shape);
}

/** Returns a reader of objects of a shape, which freezes them in place. */
export function shapeReader<const R extends Readers>(readers: R): Read<Shaped<R>> {
  const shape = shapeOf(readers);
  return (reader, value) => readShape(reader, value, shape);
}

/**
 * Returns a reader that copies objects of a shape into frozen objects. Copies of equal objects have the same member
 * order.
 */
export function orderedReader<const R extends Readers>(readers: R): Read<Shaped<R>> {
  const shape = shapeOf(readers);
  return (reader, value) => readOrdered(reader, value, shape);
}

/** Reads a copy of an object of a shape, without the members that its class reads itself. */
export function readOrdered<T>(reader: DocumentReader, value: unknown, shape: Shape<T>): T {
  const members = reader.members(value, shape.members);
  const copy: Record<string, unknown> = {};
  for (const [name, { read, isRequired }] of shape.members) {
    if (read !== byClass && (isRequired || members[name] !== undefined))
      copy[name] = reader.required(members, name, read);
  }
  return Object.freeze(copy) as T;
}

/** Reads the members of a class from an object of a shape. A member that is absent is `undefined`. */
export function readFields<T>(reader: DocumentReader, value: unknown, shape: Shape<T>): Fields<Shape<T>> {
  const members = reader.members(value, shape.members);
  const fields: Record<string, unknown> = {};
  for (const [name, { read, isRequired }] of shape.members) {
    const isAbsent = !isRequired && members[name] === undefined;
    if (read !== byClass) fields[name] = isAbsent ? undefined : reader.required(members, name, read);
  }
  return fields as Fields<Shape<T>>;
}

/** Sets the members that a document has in a value that is not frozen yet, except those that its class reads itself. */
export function readInto<T extends object>(
  reader: DocumentReader,
  members: Members,
  shape: Shape<Partial<T>>,
  target: T,
): void {
  for (const name in members) {
    const read = shape.members.get(name)?.read ?? byClass;
    if (read !== byClass && members[name] !== undefined)
      (target as Record<string, unknown>)[name] = reader.required(members, name, read);
  }
}

/** Shapes by the value of the member that selects the shape. */
export type Shapes = Readonly<Record<string, Shape<object>>>;

/** An object of one of the shapes, with the value that selects the shape. */
export type Variant<Choice extends string, S extends Shapes> = {
  [Value in keyof S]: S[Value] extends Shape<infer T> ? T & { readonly [Name in Choice]: Value } : never;
}[keyof S];

/** Returns a reader of objects whose shape depends on one member, such as `type`. */
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
    if (member === undefined) return reader.unknownMember(document, name, shape.members);
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
    if (!isRequired || Object.hasOwn(document, name)) continue;
    reader.enter(name);
    reader.fail('a value', undefined);
  }
}

/** Returns a reader of lists of one type, which freezes them in place. */
export function readFrozenList<T>(read: Read<T>): Read<readonly T[]> {
  return (reader, value) => {
    reader.list(value, read);
    return Object.freeze(value as T[]);
  };
}

/** Returns a reader of objects with any names and values of one type, which freezes them in place. */
export function readFrozenRecord<T>(read: Read<T>): Read<Readonly<Record<string, T>>> {
  return (reader, value) => {
    reader.entries(value, read);
    return Object.freeze(value as Record<string, T>);
  };
}

/** Reads a JSON object and freezes it in place. */
export const readJsonObject: Read<JsonObject> = (reader, value) => {
  const copy = readJson(reader, value);
  return isJsonObject(copy) ? copy : reader.fail('an object', value);
};
