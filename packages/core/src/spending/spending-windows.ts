import type { Instant } from '../clock.ts';
import { addNanoDollars, type NanoDollars } from './nano-dollars.ts';
import type { SpendingRefusal, SpendingWindow } from './spending-ledger.ts';

/** The windows, in the order of their ends. */
export const SPENDING_WINDOWS: readonly SpendingWindow[] = ['hour', 'day', 'month', 'total'];

/** The amount that an owner has spent since the beginning of a window. */
export interface CountedWindow {
  readonly since: Instant;
  readonly spent: NanoDollars;
}

/** The counted windows of an owner. */
export type CountedWindows = { readonly [Window in SpendingWindow]: CountedWindow };

/** The limits of windows in nano-dollars. */
export type NanoLimits = { readonly [Window in SpendingWindow]?: NanoDollars };

/** An amount to reserve, beside the amount that is reserved already. */
export interface AskedAmount {
  readonly amount: NanoDollars;
  readonly reserved: NanoDollars;
  readonly limits: NanoLimits;
}

/** The limit that an amount would exceed, in nano-dollars. */
export type NanoRefusal = SpendingRefusal;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

function monthOf(at: Instant, offset: number): Instant {
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + offset, 1);
}

function beginningOf(window: SpendingWindow, at: Instant): Instant {
  if (window === 'hour') return Math.floor(at / HOUR_MS) * HOUR_MS;
  if (window === 'day') return Math.floor(at / DAY_MS) * DAY_MS;
  return window === 'month' ? monthOf(at, 0) : at;
}

/** The instant at which a window that began at `since` ends; `undefined` for `total`. */
export function endOfWindow(window: SpendingWindow, since: Instant): Instant | undefined {
  if (window === 'hour') return since + HOUR_MS;
  if (window === 'day') return since + DAY_MS;
  return window === 'month' ? monthOf(since, 1) : undefined;
}

/**
 * The windows at an instant: a window that has ended begins anew with nothing spent. An instant before the counted
 * window, such as one of a slow clock, counts in that window, so that no clock can empty a window.
 */
export function windowsAt(counted: CountedWindows | undefined, now: Instant): CountedWindows {
  return mapWindows((window) => {
    const [before, since] = [counted?.[window], beginningOf(window, now)];
    const isCounted = before !== undefined && (window === 'total' || before.since >= since);
    return isCounted ? before : { since, spent: 0 };
  });
}

/** The windows after an amount was spent in each of them. */
export function windowsWith(windows: CountedWindows, amount: NanoDollars): CountedWindows {
  return mapWindows((window) => {
    const { since, spent } = windows[window];
    return { since, spent: addNanoDollars(spent, amount) };
  });
}

/** The limit that an amount would exceed. Of several, it is the one whose window ends last. */
export function refusalOf(
  windows: CountedWindows,
  { amount, reserved, limits }: AskedAmount,
): NanoRefusal | undefined {
  for (const window of SPENDING_WINDOWS.toReversed()) {
    const limit = limits[window];
    const { spent, since } = windows[window];
    if (limit === undefined || spent + reserved + amount <= limit) continue;
    return { window, limit, spent, reserved, until: endOfWindow(window, since) };
  }
  return undefined;
}

export function mapWindows<T>(valueOf: (window: SpendingWindow) => T): {
  readonly [Window in SpendingWindow]: T;
} {
  return { hour: valueOf('hour'), day: valueOf('day'), month: valueOf('month'), total: valueOf('total') };
}
