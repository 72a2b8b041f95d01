import type { ListChange, MissingParts, ReadContent, SavePlan } from '@holdfast/core/store';
import type { Header } from '../header/header.ts';
import type { Item } from '../table/item.ts';
import { padNumber } from '../table/keys.ts';
import type { KeyRange } from '../table/table.ts';
import { entryPosition, segmentPrefix } from './entry-keys.ts';
import { plansUpTo } from './session-log.ts';

/**
 * Returns the sort keys of the entries between two headers of a session; `undefined` when the log was replaced between
 * them.
 */
export function addedRange(before: Header, after: Header): KeyRange | undefined {
  const { incarnation } = after.record;
  const [segment, first] = entryPosition(before.lastEntry);
  const [lastSegment, last] = entryPosition(after.lastEntry);
  if (before.record.incarnation !== incarnation || segment !== lastSegment) return undefined;
  const keyOf = (position: number): string =>
    `${segmentPrefix(incarnation, segment)}#${padNumber(position, 6)}`;
  return first < last ? { from: keyOf(first + 1), to: keyOf(last + 1) } : undefined;
}

/**
 * Returns one plan with the effect of the entries between two headers; `undefined` when the entries do not lead back to the
 * earlier header.
 */
export async function addedPlan(
  before: Header,
  after: Header,
  items: ReadonlyMap<string, Item>,
): Promise<SavePlan | undefined> {
  const plans = await plansUpTo(after, items, before.lastEntry);
  const last = plans?.at(-1);
  if (plans === undefined || last === undefined || plans.some(({ isWhole }) => isWhole)) return undefined;
  const lists = new Map<string, ListChange>();
  for (const change of plans.flatMap((plan) => plan.lists))
    lists.set(change.name, followedBy(lists.get(change.name), change));
  return {
    isWhole: false,
    head: after.head ?? last.head,
    values: new Map(plans.flatMap((plan) => [...plan.values])),
    lists: [...lists.values()],
  };
}

/** Returns one change of a list that has the effect of two. */
function followedBy(before: ListChange | undefined, { name, keep, append }: ListChange): ListChange {
  if (before === undefined || keep <= before.keep) return { name, keep, append };
  return { name, keep: before.keep, append: [...before.append.slice(0, keep - before.keep), ...append] };
}

/** Returns just these parts of a plan; `undefined` when it has others in their place, as after a truncation. */
export function partsOfPlan(
  { head, values, lists }: SavePlan,
  missing: MissingParts,
): ReadContent | undefined {
  const read = missing.values.map((name) => [name, values.get(name)] as const);
  const found = missing.lists.flatMap(({ name, from, to }) =>
    lists.filter((one) => one.name === name && one.keep === from && from + one.append.length === to),
  );
  const isFound = found.length === missing.lists.length && read.every(([, text]) => text !== undefined);
  return isFound ? { head, values: new Map(read), lists: found } : undefined;
}
