import type { Instant } from '../../../clock.ts';

/**
 * Records which items of an inbox wait. Each item gets the next position, from 0. A session never uses a position
 * twice, so the cursor stays when the inbox is empty. A cursor grows with the gaps between the waiting items, not with
 * their number.
 */
export interface InboxCursor {
  /** The position of the oldest waiting item; `next` when no item waits. */
  readonly first: number;
  /** The position that the next item gets. */
  readonly next: number;
  /** The used positions after `first`, ascending: for each gap its first position and the position behind it. */
  readonly gaps?: readonly number[] | undefined;
  /** When an item was enqueued into the empty inbox; absent while the inbox is empty. */
  readonly since?: Instant | undefined;
}

/** The cursor of a session that never got an item. */
const UNUSED: InboxCursor = Object.freeze({ first: 0, next: 0 });

/** Returns the number of waiting items. */
export function waitingItemCount({ first, next, gaps }: InboxCursor = UNUSED): number {
  return gapsOf(gaps).reduce((count, [from, to]) => count - (to - from), next - first);
}

/** Returns the positions of the items that wait behind a position, ascending, at most `limit` of them. For stores. */
export function waitingPositions(
  { first, next, gaps }: InboxCursor,
  after: number,
  limit: number,
): readonly number[] {
  const positions: number[] = [];
  let from = Math.max(first, after + 1);
  for (const [gap, behind] of [...gapsOf(gaps), [next, next] as const]) {
    for (; from < gap && positions.length < limit; from++) positions.push(from);
    from = Math.max(from, behind);
  }
  return positions;
}

/** Returns the cursor after one more item was enqueued, at the position `next`. */
export function withItem(inbox: InboxCursor = UNUSED, now: Instant): InboxCursor {
  return { ...inbox, next: inbox.next + 1, since: inbox.since ?? now };
}

/** True when the item at this position waits: it was enqueued and is not used yet. */
export function isItemWaiting({ first, next, gaps }: InboxCursor, position: number): boolean {
  if (!Number.isSafeInteger(position) || position < first || position >= next) return false;
  return !gapsOf(gaps).some(([from, to]) => position >= from && position < to);
}

/**
 * Returns the cursor after these items were used. Other items keep their positions. Positions of items that do not wait
 * are ignored.
 */
export function withoutItems(inbox: InboxCursor, positions: readonly number[]): InboxCursor {
  const removed = positions.filter((position) => isItemWaiting(inbox, position));
  if (removed.length === 0) return inbox;
  const ranges = [...gapsOf(inbox.gaps), ...removed.map((position) => [position, position + 1] as const)];
  ranges.sort(([left], [right]) => left - right);
  let { first } = inbox;
  const gaps: number[] = [];
  for (const [from, to] of ranges) {
    if (from <= first) first = Math.max(first, to);
    else if (from <= (gaps.at(-1) ?? -1)) gaps[gaps.length - 1] = Math.max(gaps.at(-1) as number, to);
    else gaps.push(from, to);
  }
  const { next, since } = inbox;
  if (first === next) return { first, next };
  return { first, next, ...(gaps.length > 0 && { gaps }), since };
}

/** True when the positions of a cursor are in ascending order and its gaps come in pairs. */
export function isValidCursor({ first, next, gaps = [] }: InboxCursor): boolean {
  const positions = [...gaps, next];
  return (
    gaps.length % 2 === 0 && positions.every((position, index) => position >= (gaps[index - 1] ?? first))
  );
}

function gapsOf(gaps: readonly number[] = []): (readonly [number, number])[] {
  const pairs: (readonly [number, number])[] = [];
  for (let index = 0; index < gaps.length; index += 2) {
    pairs.push([gaps[index] as number, gaps[index + 1] as number]);
  }
  return pairs;
}
