/** The empty list, as one frozen object. */
export const NOTHING: readonly never[] = Object.freeze([]);

/**
 * Returns what `Array.prototype.some` returns, which takes ten times as long for a frozen array. A `for … of` loop
 * would allocate.
 */
export function some<T>(elements: readonly T[], test: (element: T) => boolean): boolean {
  for (let index = 0; index < elements.length; index++) if (test(elements[index] as T)) return true;
  return false;
}

/** Adds an element to a list, or creates the list with it: an empty array grows to room for seventeen elements. */
export function pushTo<T>(list: T[] | undefined, element: T): T[] {
  if (list === undefined) return [element];
  list.push(element);
  return list;
}

/**
 * Returns the elements of both arrays in an array without spare room. A spread allocates room for twice as many
 * elements.
 */
export function concatExact<T>(first: readonly T[], second: readonly T[]): T[] {
  const result: T[] = [];
  result.length = first.length + second.length;
  for (let index = 0; index < first.length; index++) result[index] = first[index] as T;
  for (let index = 0; index < second.length; index++) result[first.length + index] = second[index] as T;
  return result;
}
