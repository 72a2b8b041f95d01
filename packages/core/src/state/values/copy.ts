// The values of a state are copied at every step. A constructor creates the copy, a transition sets its fields and
// freezes it. A literal with a spread takes three to six times as long.

/** A copy that is not frozen yet. */
type Draft<T> = { -readonly [K in keyof T]: T[K] };

/** The fields that a value is created with: the given fields are required, the others have defaults. */
export type Init<Fields, Given extends keyof Fields> = Pick<Fields, Given> & {
  readonly [Name in keyof Fields]?: Fields[Name] | undefined;
};

/** Returns the same object with writable fields, for a copy that is not frozen yet. */
export function draft<T>(copy: T): Draft<T> {
  return copy;
}

export function freeze<T extends object>(copy: T): T {
  Object.freeze(copy);
  return copy;
}
