/**
 * A whole number of nano-dollars: 1,000,000,000 are one US dollar. Ledgers count in nano-dollars, because whole numbers
 * add without rounding errors, and because the usual prices of one token are whole numbers of them.
 */
export type NanoDollars = number;

const NANOS_PER_DOLLAR = 1_000_000_000;

/** The largest amount that a window counts: 9,007,199 dollars and 254,740,991 nano-dollars. */
export const MAX_NANO_DOLLARS: NanoDollars = Number.MAX_SAFE_INTEGER;

/** The largest amount in US dollars that a ledger accepts. */
export const MAX_DOLLARS = 9_007_199;

/** Converts US dollars to the nearest whole number of nano-dollars. */
export function toNanoDollars(dollars: number): NanoDollars {
  return Math.round(dollars * NANOS_PER_DOLLAR);
}

export function toDollars(nanos: NanoDollars): number {
  return nanos / NANOS_PER_DOLLAR;
}

/** Returns the sum of two amounts, at most the largest amount that a window counts. */
export function addNanoDollars(left: NanoDollars, right: NanoDollars): NanoDollars {
  return Math.min(left + right, MAX_NANO_DOLLARS);
}
