import { isJsonObject, type JsonValue } from '../../json.ts';

/** Truncates a value that is too long to a text of its first characters, with a note of the missing ones. */
export function truncate(value: JsonValue, maxLength: number): JsonValue {
  if (typeof value !== 'string' && (typeof value !== 'object' || value === null)) return value;
  if (remainingAfter(value, maxLength) >= 0) return value;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (text.length <= maxLength) return value;
  const shown = text.slice(0, maxLength).toWellFormed();
  return `${shown}\n[Truncated: the first ${maxLength} of ${text.length} characters are shown.]`;
}

/** The remaining length after the longest JSON form of a value; negative when the value may exceed the length. */
function remainingAfter(value: JsonValue, length: number): number {
  if (typeof value === 'string') return length - LONGEST_ESCAPE * value.length - 2;
  if (typeof value !== 'object' || value === null) return length - LONGEST_NUMBER;
  let rest = length - 2;
  if (!isJsonObject(value)) {
    for (const element of value) {
      if (rest < 0) break;
      rest = remainingAfter(element, rest - 4);
    }
    return rest;
  }
  for (const name in value) {
    if (rest < 0) break;
    rest = remainingAfter(value[name] ?? null, rest - LONGEST_ESCAPE * name.length - 4);
  }
  return rest;
}

/** `\u0000`. */
const LONGEST_ESCAPE = 6;
/** `-1.2345678901234567e-100`. */
const LONGEST_NUMBER = 24;
