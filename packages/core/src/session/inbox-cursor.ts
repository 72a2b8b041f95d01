import type { Instant } from '../clock.ts';

/**
 * Which items of an inbox wait. Items are numbered as they come in, from 0; a number is never given twice, so a session
 * keeps its cursor when its inbox is empty. The size of a cursor does not depend on how many items wait.
 */
export interface InboxCursor {
  /** The number of the oldest item that waits; `next` when none does. */
  readonly first: number;
  /** The number of the item that comes in next. */
  readonly next: number;
  /** Numbers from `first` on whose items were used: pairs of the first number and the one behind the last, ascending. */
  readonly used?: readonly number[] | undefined;
  /** When the inbox was last empty and an item came in; absent while it is empty. */
  readonly since?: Instant | undefined;
}

/** The inbox of a session that nothing was ever enqueued for. */
const UNUSED: InboxCursor = Object.freeze({ first: 0, next: 0 });

/** How many items wait. */
export function waitingItems({ first, next, used = [] }: InboxCursor = UNUSED): number {
  let count = next - first;
  for (let index = 0; index < used.length; index += 2) {
    count -= (used[index + 1] as number) - (used[index] as number);
  }
  return count;
}

/** The cursor after one more item has come in, which gets the number `next`. */
export function withItem(inbox: InboxCursor = UNUSED, now: Instant): InboxCursor {
  return { ...inbox, next: inbox.next + 1, since: inbox.since ?? now };
}

/** Whether the item with this number waits. */
export function isItemWaiting({ first, next, used = [] }: InboxCursor, position: number): boolean {
  if (!Number.isSafeInteger(position) || position < first || position >= next) return false;
  for (let index = 0; index < used.length; index += 2) {
    if (position >= (used[index] as number) && position < (used[index + 1] as number)) return false;
  }
  return true;
}

/** The cursor after these items were used; the others keep their numbers. Numbers that do not wait are ignored. */
export function withoutItems(inbox: InboxCursor, positions: readonly number[]): InboxCursor {
  const taken = positions.filter((position) => isItemWaiting(inbox, position));
  if (taken.length === 0) return inbox;
  const ranges = [...pairsOf(inbox.used), ...taken.map((position) => [position, position + 1] as const)];
  ranges.sort(([left], [right]) => left - right);
  let { first } = inbox;
  const used: number[] = [];
  for (const [from, to] of ranges) {
    if (from <= first) first = Math.max(first, to);
    else if (from <= (used.at(-1) ?? -1)) used[used.length - 1] = Math.max(used.at(-1) as number, to);
    else used.push(from, to);
  }
  const { next, since } = inbox;
  if (first === next) return { first, next };
  return { first, next, ...(used.length > 0 && { used }), since };
}

function pairsOf(used: readonly number[] = []): (readonly [number, number])[] {
  const pairs: (readonly [number, number])[] = [];
  for (let index = 0; index < used.length; index += 2) {
    pairs.push([used[index] as number, used[index + 1] as number]);
  }
  return pairs;
}
