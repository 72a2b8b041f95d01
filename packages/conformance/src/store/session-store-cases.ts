import { argumentCases } from './database/argument-cases.ts';
import { attemptCases } from './claims/attempt-cases.ts';
import { baseCases } from './saves/base-cases.ts';
import { changeCases } from './saves/change-cases.ts';
import { claimCases } from './claims/claim-cases.ts';
import { costCases } from './database/cost-cases.ts';
import { dueCases } from './finding/due-cases.ts';
import { failureCases } from './claims/failure-cases.ts';
import { executionCases } from './saves/execution-cases.ts';
import { expiryCases } from './finding/expiry-cases.ts';
import { faultCases } from './database/fault-cases.ts';
import { fencingCases } from './claims/fencing-cases.ts';
import { fullInboxCases } from './inbox/full-inbox-cases.ts';
import { historyCases } from './saves/history-cases.ts';
import { inboxCases } from './inbox/inbox-cases.ts';
import { inboxValueCases } from './inbox/inbox-value-cases.ts';
import { inspectionCases } from './finding/inspection-cases.ts';
import { listCases } from './finding/list-cases.ts';
import { listFilterCases } from './finding/list-filter-cases.ts';
import { manySessionCases } from './database/many-session-cases.ts';
import { outdatedBaseCases } from './saves/outdated-base-cases.ts';
import { ownerCases } from './finding/owner-cases.ts';
import { ownershipCases } from './finding/ownership-cases.ts';
import { reopenCases } from './saves/reopen-cases.ts';
import { releaseCases } from './claims/release-cases.ts';
import { replayCases } from './saves/replay-cases.ts';
import { rowCases } from './database/row-cases.ts';
import { sizeCases } from './database/size-cases.ts';
import type { SessionStoreCase, SessionStoreGroup, UngroupedCase } from './case/store-case.ts';
import { unreadableCases } from './database/unreadable-cases.ts';
import { valueCases } from './saves/value-cases.ts';
import { wholeSaveCases } from './saves/whole-save-cases.ts';
import { writeCases } from './saves/write-cases.ts';

const groups: readonly (readonly [SessionStoreGroup, readonly UngroupedCase[]])[] = [
  ['writes', [...writeCases, ...wholeSaveCases]],
  ['replays', replayCases],
  ['changes', changeCases],
  ['values', valueCases],
  ['executions', executionCases],
  ['claims', [...claimCases, ...releaseCases, ...attemptCases]],
  ['bases', [...baseCases, ...outdatedBaseCases]],
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
