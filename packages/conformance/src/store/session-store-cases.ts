import { argumentCases } from './argument-cases.ts';
import { attemptCases } from './attempt-cases.ts';
import { baseCases } from './base-cases.ts';
import { changeCases } from './change-cases.ts';
import { claimCases } from './claim-cases.ts';
import { costCases } from './cost-cases.ts';
import { dueCases } from './due-cases.ts';
import { failureCases } from './failure-cases.ts';
import { executionCases } from './execution-cases.ts';
import { expiryCases } from './expiry-cases.ts';
import { faultCases } from './fault-cases.ts';
import { fencingCases } from './fencing-cases.ts';
import { fullInboxCases } from './full-inbox-cases.ts';
import { historyCases } from './history-cases.ts';
import { inboxCases } from './inbox-cases.ts';
import { inboxValueCases } from './inbox-value-cases.ts';
import { inspectionCases } from './inspection-cases.ts';
import { listCases } from './list-cases.ts';
import { listFilterCases } from './list-filter-cases.ts';
import { manySessionCases } from './many-session-cases.ts';
import { ownerCases } from './owner-cases.ts';
import { ownershipCases } from './ownership-cases.ts';
import { reopenCases } from './reopen-cases.ts';
import { releaseCases } from './release-cases.ts';
import { replayCases } from './replay-cases.ts';
import { rowCases } from './row-cases.ts';
import { sizeCases } from './size-cases.ts';
import type { SessionStoreCase, SessionStoreGroup, UngroupedCase } from './store-case.ts';
import { unreadableCases } from './unreadable-cases.ts';
import { valueCases } from './value-cases.ts';
import { wholeSaveCases } from './whole-save-cases.ts';
import { writeCases } from './write-cases.ts';

const groups: readonly (readonly [SessionStoreGroup, readonly UngroupedCase[]])[] = [
  ['writes', [...writeCases, ...wholeSaveCases]],
  ['replays', replayCases],
  ['changes', changeCases],
  ['values', valueCases],
  ['executions', executionCases],
  ['claims', [...claimCases, ...releaseCases, ...attemptCases]],
  ['bases', baseCases],
  ['fencing', fencingCases],
  ['inbox', [...inboxCases, ...inboxValueCases, ...fullInboxCases]],
  ['due', dueCases],
  ['failures', failureCases],
  ['expiry', expiryCases],
  ['lists', [...listCases, ...listFilterCases]],
  ['owners', [...ownerCases, ...ownershipCases]],
  ['history', historyCases],
  ['inspection', inspectionCases],
  ['unreadable', unreadableCases],
  ['arguments', argumentCases],
  ['reopening', reopenCases],
  ['sizes', sizeCases],
  ['rows', rowCases],
  ['costs', [...costCases, ...manySessionCases]],
  ['faults', faultCases],
];

/**
 * The requirements on every session store, whatever its database. The cases are plain data, which any test runner can
 * run.
 */
export const sessionStoreCases: readonly SessionStoreCase[] = groups.flatMap(([group, cases]) =>
  cases.map((one) => ({ group, ...one })),
);
