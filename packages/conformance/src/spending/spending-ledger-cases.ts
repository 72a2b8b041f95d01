import { ledgerExpiryCases } from './expiry-cases.ts';
import type { SpendingLedgerCase, SpendingLedgerGroup, UngroupedLedgerCase } from './ledger-case.ts';
import { ledgerSharingCases } from './ledger-sharing-cases.ts';
import { ledgerValueCases } from './ledger-value-cases.ts';
import { reservationCases } from './reservation-cases.ts';
import { settlementCases } from './settlement-cases.ts';
import { windowCases } from './window-cases.ts';

const groups: readonly (readonly [SpendingLedgerGroup, readonly UngroupedLedgerCase[]])[] = [
  ['reservations', reservationCases],
  ['settlements', settlementCases],
  ['expiry', ledgerExpiryCases],
  ['windows', windowCases],
  ['values', ledgerValueCases],
  ['sharing', ledgerSharingCases],
];

/**
 * The requirements on every spending ledger, whatever its database. The cases are plain data, which any test runner can
 * run.
 */
export const spendingLedgerCases: readonly SpendingLedgerCase[] = groups.flatMap(([group, cases]) =>
  cases.map((one) => ({ group, ...one })),
);
