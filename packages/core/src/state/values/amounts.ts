import { describeValue, invalidArgument } from '../../errors.ts';

/** The sum of two counts. It stops at the last whole number that is exact, as what lies beyond cannot be read back. */
export function addCounts(left: number, right: number): number {
  return Math.min(left + right, Number.MAX_SAFE_INTEGER);
}

/** The sum of two amounts. It stops at the largest number there is: JSON has no infinity. */
export function addAmounts(left: number, right: number): number {
  return Math.min(left + right, Number.MAX_VALUE);
}

/**
 * The sum of seconds worked and some more. Less than none counts as none: a clock may have gone back.
 * @throws RangeError `ARGUMENT_INVALID` for what is not a finite number.
 */
export function addSeconds(worked: number, more: number): number {
  if (Number.isFinite(more)) return addAmounts(worked, Math.max(0, more));
  throw invalidArgument(`Time worked is a finite number of seconds, found ${describeValue(more)}.`);
}
