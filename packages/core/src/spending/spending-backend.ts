import type { NanoDollars } from './nano-dollars.ts';
import type { SpendingCall } from './spending-ledger.ts';
import type { CountedWindows, NanoLimits, NanoRefusal } from './spending-windows.ts';

/** A checked reservation, in nano-dollars. */
export interface BackendReservation extends SpendingCall {
  readonly amount: NanoDollars;
  readonly limits: NanoLimits;
  readonly expiresInSeconds: number;
}

/** A checked settlement, in nano-dollars. */
export interface BackendSettlement extends SpendingCall {
  readonly amount: NanoDollars;
}

/** The account of an owner at the present instant. */
export interface SpendingAccount {
  /** The windows at the present instant, as `windowsAt` returns them; `undefined` for an unknown owner. */
  readonly windows: CountedWindows | undefined;
  /** The sum of the reservations that have not expired. */
  readonly reserved: NanoDollars;
}

/**
 * Stores accounts. Each method is one atomic step for its owner. A backend reads the time from a clock of its own. Its
 * arguments are checked.
 */
export interface SpendingBackend {
  /** Reserves an amount, or returns the refusal. A call that is reserved or settled changes nothing. */
  reserve(reservation: BackendReservation): Promise<NanoRefusal | undefined>;
  /** Adds the cost of a call that was not settled before, ends its reservation, and stores its id. */
  settle(settlement: BackendSettlement): Promise<void>;
  /** Ends the reservation of a call. */
  release(call: SpendingCall): Promise<void>;
  read(owner: string): Promise<SpendingAccount>;
  /** Closes the connections that the backend has opened. The ledger calls it once. */
  close(): Promise<void>;
}
