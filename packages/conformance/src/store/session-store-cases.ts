import type { SessionStoreCase } from './store-case.ts';
import { listCases } from './list-cases.ts';
import { replayCases } from './replay-cases.ts';
import { valueCases } from './value-cases.ts';
import { writeCases } from './write-cases.ts';

/** What every session store must do, whatever it keeps sessions in. Plain data: run each case in any test runner. */
export const sessionStoreCases: readonly SessionStoreCase[] = [
  ...writeCases,
  ...replayCases,
  ...valueCases,
  ...listCases,
];
