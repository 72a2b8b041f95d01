/** Returns the member of an object whose type is unknown; `undefined` for another value. */
export function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}
