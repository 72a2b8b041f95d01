import { checkArgument, mustBe, type ArgumentCheck } from '../../../arguments.ts';

/**
 * How many sessions of one group are worked on at the same time, over all lanes: the same number for each group, or a
 * function that returns the number for a group. A whole number from 1. The groups are the owners by default. A group
 * for which the function fails has one slot.
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

/** The most warnings of one engine. */
const MAX_WARNINGS = 100;

/**
 * Returns the limits of an option; `undefined` without one. Sessions without a group have no limit. A group for which the
 * function of the option throws, or returns no whole number from 1, has the limit 1: its sessions must not wait for ever, nor
 * hold up those of others. `onWarning` is called once for each such group.
 */
export function groupLimits(
  option: GroupConcurrency | undefined,
  onWarning: (warning: string) => void = warn,
): GroupLimits | undefined {
  if (option === undefined) return undefined;
  if (typeof option === 'number') return (group) => (group === undefined ? Infinity : option);
  const warned = new Set<string>();
  return (group) => {
    if (group === undefined) return Infinity;
    try {
      return checkArgument('The result of groupConcurrency', option(group), mustBe.wholeNumber(1));
    } catch (error) {
      if (!warned.has(group) && warned.size < MAX_WARNINGS)
        onWarning(
          `groupConcurrency failed for the group "${group}", which has one slot now: ${String(error)}`,
        );
      warned.add(group);
      return 1;
    }
  };
}

function warn(warning: string): void {
  // oxlint-disable-next-line no-console -- a problem must not be lost when the caller passes no listener
  console.warn(warning);
}
