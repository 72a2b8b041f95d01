import type { Clock } from '../../clock.ts';
import { describeValue, invalidArgument } from '../../errors.ts';

/** Refuses what has no members to look at, such as options. @throws TypeError `ARGUMENT_INVALID`. */
export function requireObject(value: unknown, expected: string): void {
  if (typeof value !== 'object' || value === null) throw wrongArgument(value, expected);
}

/** @throws TypeError `ARGUMENT_INVALID`. */
export function requireString(value: unknown, expected: string): void {
  if (typeof value !== 'string') throw wrongArgument(value, expected);
}

/** @throws TypeError `ARGUMENT_INVALID`. */
export function requireClock(value: Clock | null | undefined): void {
  if (typeof value?.now !== 'function' || typeof value.newId !== 'function')
    throw wrongArgument(value, 'a clock: an object with now() and newId()');
}

/** The error for an argument of the wrong kind. */
export function wrongArgument(value: unknown, expected: string): Error {
  return invalidArgument(`Expected ${expected}, found ${describeValue(value)}.`, TypeError);
}
