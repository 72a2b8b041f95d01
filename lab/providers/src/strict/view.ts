/** An object of a JSON text. */
export type Members = Readonly<Record<string, unknown>>;

/** Where a value stands in the body of a request. */
export type Path = readonly (string | number)[];

/** A value of a request, with its place. */
export interface Place {
  readonly path: Path;
  readonly value: unknown;
}

/** The type of a part, in the terms of the checks. */
export type PartType =
  | 'text'
  | 'call'
  | 'result'
  | 'result-text'
  | 'reasoning'
  | 'redacted'
  | 'file'
  | 'server-call'
  | 'server-result'
  | 'reference'
  | 'mark'
  | 'empty'
  | 'other'
  | 'message'
  | 'tool';

/** A part of a message, or a tool. `at`: its values by the names that the rules use, such as `id` and `input`. */
export interface Part {
  readonly type: PartType;
  readonly path: Path;
  readonly raw: Members;
  readonly at: Readonly<Record<string, Place>>;
}

/** A message, or an item of the Responses protocol. */
export interface Turn {
  readonly path: Path;
  /** `system`, `user`, `assistant` or `tool`; a role that the protocol does not know stays as it is. */
  readonly role: string;
  /** The message as a part, whose values are its members. */
  readonly message: Part;
  readonly parts: readonly Part[];
}

/** How the model of a request reasons: `enabled` with a budget of tokens, `adaptive` as it sees fit, `on` for others. */
export type Thinking = 'off' | 'on' | 'enabled' | 'adaptive';

/** A request in the terms of the checks, whichever protocol it speaks. */
export interface View {
  readonly body: Members;
  readonly model: string;
  readonly thinking: Thinking;
  /** How the request wants calls: `undefined`, `auto`, `none`, `required`, or `tool` for a named one. */
  readonly toolChoice: string | undefined;
  readonly system: readonly Part[];
  readonly tools: readonly Part[];
  readonly turns: readonly Turn[];
}

/** The value at this name, as a place below `path`. */
export function placeOf(path: Path, raw: Members, name: string): Place {
  return { path: [...path, name], value: raw[name] };
}

/** A part whose values stand at these names of its members. Names that the part does not have are left out. */
export function partOf(
  type: PartType,
  path: Path,
  raw: Members,
  names: Readonly<Record<string, string>> = {},
): Part {
  const places = Object.entries(names)
    .filter(([, name]) => raw[name] !== undefined)
    .map(([to, name]) => [to, placeOf(path, raw, name)] as const);
  return { type, path, raw, at: Object.fromEntries(places) };
}

/** A message as a turn. Its members are the values of its `message` part. */
export function turnOf(path: Path, role: string, raw: Members, parts: readonly Part[]): Turn {
  const names = Object.fromEntries(Object.keys(raw).map((name) => [name, name]));
  return { path, role, message: partOf('message', path, raw, names), parts };
}

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The members of an object. Anything else has none. */
export function membersOf(value: unknown): Members {
  return isMembers(value) ? value : {};
}

/** The elements of a list, as objects with their paths. Anything but a list has none. */
export function elementsOf(value: unknown, path: Path): readonly (readonly [raw: Members, path: Path])[] {
  if (!Array.isArray(value)) return [];
  return value.map((element: unknown, index) => [membersOf(element), [...path, index]]);
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The mode that Claude names. Anything else is `off`. */
export function thinkingOf({ type }: Members): Thinking {
  return type === 'enabled' || type === 'adaptive' ? type : 'off';
}

/** The parts of all turns. */
export function partsOf({ turns }: View): readonly Part[] {
  return turns.flatMap(({ parts }) => parts);
}

/** The parts of one type in a turn. */
export function ofType({ parts }: Turn, type: PartType): readonly Part[] {
  return parts.filter((part) => part.type === type);
}
