/** Declares the tests of cases with Vitest. Processes that tests start import `for-adapters.ts` only. It is not published. */
export { testCases, testCasesApart } from './run/test-cases.ts';
export { testPollingEngine } from './engine/polling-engine/test-polling-engine.ts';
