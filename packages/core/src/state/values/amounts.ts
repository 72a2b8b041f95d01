import { describeValue, invalidArgument } from '../../errors.ts';

/** Returns the sum of two counts, at most the largest safe integer: a larger number cannot be read back exactly. */
export function addCounts(left: number, right: number): number {
  return Math.min(left + right, Number.MAX_SAFE_INTEGER);
}

/** Returns the sum of two amounts, at most the largest finite number: JSON has no infinity. */
export function addAmounts(left: number, right: number): number {
  return Math.min(left + right, Number.MAX_VALUE);
}

/**
 * Adds seconds to the seconds worked. Negative seconds count as 0, because a clock can go backwards.
 * @throws RangeError `ARGUMENT_INVALID` for a value that is not a finite number.
 */
export function addSeconds(worked: number, more: number): number {
  if (Number.isFinite(more)) return addAmounts(worked, Math.max(0, more));
  throw invalidArgument(`Time worked must be a finite number of seconds, found ${describeValue(more)}.`);
}
