import { checkArgument, mustBe } from '../../../arguments.ts';
import type { ArgumentCheck } from '../../../arguments.ts';

/**
 * How many sessions of one group are worked on at the same time, over all lanes: the same number for each group, or a
 * function that returns the number for a group. A whole number from 1. The groups are the owners by default.
 */
export type GroupConcurrency = number | ((group: string) => number);

/** Returns the most sessions of a group that are worked on at the same time; `Infinity` without a limit. */
export type GroupLimits = (group: string | undefined) => number;

/** The check of the option `groupConcurrency`. */
export const GROUP_CONCURRENCY: ArgumentCheck = {
  type: 'number',
  expected: 'a whole number of at least 1, or a function that returns one for a group',
  accepts: (value: unknown): boolean =>
    mustBe.function.accepts(value) || mustBe.wholeNumber(1).accepts(value),
};

/**
 * Returns the limits of an option; `undefined` without one. Sessions without a group have no limit.
 * @throws RangeError or TypeError `ARGUMENT_INVALID`, at a call, when the function of the option returns another value.
 */
export function groupLimits(option: GroupConcurrency | undefined): GroupLimits | undefined {
  if (option === undefined) return undefined;
  if (typeof option === 'number') return (group) => (group === undefined ? Infinity : option);
  return (group) => {
    if (group === undefined) return Infinity;
    const limit = option(group);
    checkArgument(`The result of groupConcurrency for the group "${group}"`, limit, mustBe.wholeNumber(1));
    return limit;
  };
}
