import { isItemWaiting, withoutItems, type InboxCursor } from './inbox-cursor.ts';

/** The largest number of items beyond the limit of an inbox, without the stop. */
const MAX_RESERVED_ITEMS = 100;
/** A stop of whatever execution is active: one is enough, and it must always fit. */
const STOP = 'stop';

/** An item that waits beyond the limit of its inbox. */
export interface ReservedItem {
  readonly name: string;
  readonly position: number;
}

/** The limit of an inbox, and the name of an item that may exceed it. */
export interface InboxLimit {
  readonly maxItems: number;
  readonly reserve?: string | undefined;
}

/** True when an item that does what this name says may wait beyond the limit. */
export function hasReservedPlace(reserved: readonly ReservedItem[], name: string | undefined): boolean {
  return name === STOP || (name !== undefined && reserved.length < MAX_RESERVED_ITEMS);
}

/** An inbox, and the items that wait beyond its limit. */
interface Inbox {
  readonly inbox?: InboxCursor | undefined;
  readonly reserved?: readonly ReservedItem[] | undefined;
}

/** Returns an inbox without the items at some positions. */
export function withoutPositions({ inbox, reserved }: Inbox, positions: readonly number[]): Inbox {
  const rest = inbox && withoutItems(inbox, positions);
  const waiting = rest && reserved?.filter(({ position }) => isItemWaiting(rest, position));
  return { inbox: rest, reserved: waiting?.length ? waiting : undefined };
}
