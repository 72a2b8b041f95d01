/** True when two JSON values are equal. A member that is `undefined` is as good as an absent one. */
export function isSameValue(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (!isObject(one) || !isObject(other) || Array.isArray(one) !== Array.isArray(other)) return false;
  const names = Object.keys(one).filter((name) => one[name] !== undefined);
  const otherNames = Object.keys(other).filter((name) => other[name] !== undefined);
  return names.length === otherNames.length && names.every((name) => isSameValue(one[name], other[name]));
}

/** True for an object or an array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** True for an object that is no array. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return isObject(value) && !Array.isArray(value);
}
