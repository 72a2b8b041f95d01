import { isItemWaiting, type InboxCursor } from '@holdfast/core/store';

/** The positions from `from` up to `to`, without `to`. */
type PositionRange = readonly [from: number, to: number];

/**
 * The ranges of positions whose rows can be removed after `positions` were used. Rows at the position after a waiting
 * item stay, because they name the accepted item. If no item waits before a range, the range begins at 0, so that it
 * includes rows that earlier saves could not remove.
 */
export function removablePositions(positions: readonly number[], cursor: InboxCursor): PositionRange[] {
  const { first, next } = cursor;
  return toRanges(positions).flatMap(([begin, end]) => {
    const isNextUsed = end < next && !isItemWaiting(cursor, end);
    const to = isNextUsed ? end + 1 : end;
    const from = end <= first ? 0 : isItemWaiting(cursor, begin - 1) ? begin + 1 : begin;
    return from < to ? [[from, to] as const] : [];
  });
}

/** Groups numbers into ranges of consecutive numbers. */
function toRanges(numbers: readonly number[]): PositionRange[] {
  const ranges: [number, number][] = [];
  for (const number of [...new Set(numbers)].toSorted((left, right) => left - right)) {
    const last = ranges.at(-1);
    if (last?.[1] === number) last[1] = number + 1;
    else ranges.push([number, number + 1]);
  }
  return ranges;
}
