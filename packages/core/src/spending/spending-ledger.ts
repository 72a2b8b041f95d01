import type { Instant } from '../clock.ts';

/** The windows in which a ledger counts: the hour, the day and the month by the calendar, UTC, and all time. */
export type SpendingWindow = 'hour' | 'day' | 'month' | 'total';

/** The most that an owner may spend in each window, in US dollars. A window without a limit is counted only. */
export type SpendingLimits = { readonly [Window in SpendingWindow]?: number | undefined };

/** One call of a model, which its owner pays. */
export interface SpendingCall {
  /** The tenant or user who pays: 1 to 1,000 characters of well-formed Unicode. */
  readonly owner: string;
  /** The id of the call, which is unique for its owner: 1 to 200 characters of well-formed Unicode. */
  readonly inferenceId: string;
}

/** The reservation of an amount for a call. */
export interface SpendingReservation extends SpendingCall {
  /** The most that the call can cost, in US dollars. */
  readonly amount: number;
  readonly limits: SpendingLimits;
  /**
   * The seconds after which the amount is free again, unless the call was settled or released before. Choose more
   * seconds than a call can take.
   */
  readonly expiresInSeconds: number;
}

/** The real cost of a call. */
export interface SpendingSettlement extends SpendingCall {
  /** US dollars. */
  readonly amount: number;
}

/** The limit that a reservation would exceed. Of several such limits, it is the one whose window ends last. */
export interface SpendingRefusal {
  readonly window: SpendingWindow;
  /** The limit of the window, in US dollars. */
  readonly limit: number;
  /** The amount that the owner has spent in the window, in US dollars. */
  readonly spent: number;
  /** The amount that is reserved for other calls of the owner, in US dollars. */
  readonly reserved: number;
  /** The instant at which the window ends; `undefined` for `total`. */
  readonly until: Instant | undefined;
}

/** Whether an amount was reserved. */
export type ReserveResult =
  | { readonly isReserved: true }
  | { readonly isReserved: false; readonly refusal: SpendingRefusal };

/** The spending of an owner in one window. */
export interface WindowSpending {
  /** US dollars. */
  readonly spent: number;
  /** The amount that is reserved for calls, in US dollars. It is the same in every window. */
  readonly reserved: number;
  /** The beginning of the window; for `total` the first entry of the owner, or `undefined` without an entry. */
  readonly since: Instant | undefined;
  /** The end of the window; `undefined` for `total`. */
  readonly until: Instant | undefined;
}

/** The spending of an owner in each window. */
export type Spending = { readonly [Window in SpendingWindow]: WindowSpending };

/**
 * Counts what owners spend on calls of models, over all sessions and processes. A ledger reserves an amount before a
 * call and replaces it by the real cost after the call. The sum of the reservations and of the real costs never exceeds
 * a limit, except by the amounts by which real costs exceed their reservations.
 *
 * All methods reject with a RangeError or TypeError `ARGUMENT_INVALID` for an invalid argument, with
 * StoreUnavailableError `STORE_UNAVAILABLE` when the storage does not answer, and with StateFormatError for storage that
 * the ledger cannot read. Every method can be repeated after an ambiguous failure.
 */
export interface SpendingLedger {
  /**
   * Reserves an amount for a call if, in every window with a limit, the amounts spent and reserved and this amount are
   * together at most the limit. The check and the reservation are one atomic step. A repeated reservation of a call
   * that is reserved or settled returns that it is reserved, and changes nothing. A refusal is not stored.
   */
  reserve(reservation: SpendingReservation): Promise<ReserveResult>;
  /**
   * Adds the real cost of a call to the windows of the present instant, and ends its reservation. Without a reservation,
   * or after its end, the cost counts too. A call that was settled before is not counted again, for as long as the
   * ledger keeps its id.
   */
  settle(settlement: SpendingSettlement): Promise<void>;
  /** Ends the reservation of a call that was not made. Does nothing for a call that was settled. */
  release(call: SpendingCall): Promise<void>;
  /** Returns the spending of an owner. An unknown owner has spent nothing. */
  read(owner: string): Promise<Spending>;
  /** Closes the ledger. Later calls reject with `STORE_UNAVAILABLE`. */
  close(): Promise<void>;
}
