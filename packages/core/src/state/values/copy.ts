// The values of a state are copied at every step. A copy is made by its constructor, its fields are then set, and it is
// frozen: a literal with a spread takes three to six times as long.

/** A copy that is being made. */
type Draft<T> = { -readonly [K in keyof T]: T[K] };

/** What a value is created with: the given fields, and those of the others that differ from their defaults. */
export type Init<Fields, Given extends keyof Fields> = Pick<Fields, Given> & {
  readonly [Name in keyof Fields]?: Fields[Name] | undefined;
};

/** The same object, so that the fields of a copy can be set before it is frozen. */
export function draft<T>(copy: T): Draft<T> {
  return copy;
}

/** The same object, frozen. */
export function freeze<T extends object>(copy: T): T {
  Object.freeze(copy);
  return copy;
}
