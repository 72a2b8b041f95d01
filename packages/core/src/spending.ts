// Exports for what owners spend: the ledger, the limit of a driver, and the backend contract with its functions
export type {
  ReserveResult,
  Spending,
  SpendingCall,
  SpendingLedger,
  SpendingLimits,
  SpendingRefusal,
  SpendingReservation,
  SpendingSettlement,
  SpendingWindow,
  WindowSpending,
} from './spending/spending-ledger.ts';
export { MemorySpendingLedger } from './spending/memory-spending-ledger.ts';
export { withSpendingLimit } from './spending/with-spending-limit.ts';
export type { SpendingLimitOptions } from './spending/with-spending-limit.ts';
export type { LimitedCall } from './spending/call-cost.ts';
export {
  BackedSpendingLedger,
  KEEP_IDS_SECONDS,
  spendingOptionChecks,
} from './spending/backed-spending-ledger.ts';
export type { SpendingLedgerOptions } from './spending/backed-spending-ledger.ts';
export type {
  BackendReservation,
  BackendSettlement,
  SpendingAccount,
  SpendingBackend,
} from './spending/spending-backend.ts';
export { addNanoDollars, MAX_NANO_DOLLARS } from './spending/nano-dollars.ts';
export type { NanoDollars } from './spending/nano-dollars.ts';
export {
  endOfWindow,
  refusalOf,
  SPENDING_WINDOWS,
  windowsAt,
  windowsWith,
} from './spending/spending-windows.ts';
export type {
  AskedAmount,
  CountedWindow,
  CountedWindows,
  NanoLimits,
  NanoRefusal,
} from './spending/spending-windows.ts';
