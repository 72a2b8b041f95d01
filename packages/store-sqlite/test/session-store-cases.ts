import type { SessionStoreCase } from './cases/store-case.ts';
import { listCases } from './cases/list-cases.ts';
import { replayCases } from './cases/replay-cases.ts';
import { valueCases } from './cases/value-cases.ts';
import { writeCases } from './cases/write-cases.ts';

/** What every session store must do, whatever it keeps sessions in. Plain data: run each case in any test runner. */
export const sessionStoreCases: readonly SessionStoreCase[] = [
  ...writeCases,
  ...replayCases,
  ...valueCases,
  ...listCases,
];
