import type { EngineCase, EngineGroup, UngroupedEngineCase } from './engine-case.ts';
import { errorCases } from './error-cases.ts';
import { failureCases } from './failure-cases.ts';
import { groupCases } from './group-cases.ts';
import { laneCases } from './lane-cases.ts';
import { loadCases } from './load-cases.ts';
import { momentCases } from './moment-cases.ts';
import { outcomeCases } from './outcome-cases.ts';
import { processCases } from './process-cases.ts';
import { reopenCases } from './reopen-cases.ts';
import { routeCases } from './route-cases.ts';
import { scheduleCases } from './schedule-cases.ts';
import { sessionCases } from './session-cases.ts';
import { sharingCases } from './sharing-cases.ts';
import { stopCases } from './stop-cases.ts';
import { stopTimeCases } from './stop-time-cases.ts';
import { suspectCases } from './suspect-cases.ts';
import { wakeCases } from './wake-cases.ts';

const groups: readonly (readonly [EngineGroup, readonly UngroupedEngineCase[]])[] = [
  ['wake-ups', wakeCases],
  ['moments', momentCases],
  ['outcomes', outcomeCases],
  ['failures', [...failureCases, ...errorCases]],
  ['load', loadCases],
  ['lanes', [...laneCases, ...scheduleCases, ...groupCases, ...routeCases]],
  ['stops', [...stopCases, ...stopTimeCases]],
  ['sessions', sessionCases],
  ['suspects', suspectCases],
  ['reopening', reopenCases],
  ['sharing', sharingCases],
  ['processes', processCases],
];

/**
 * The requirements on every execution engine, wherever it stores its wake-ups. The cases are plain data, which any test
 * runner can run.
 */
export const engineCases: readonly EngineCase[] = groups.flatMap(([group, cases]) =>
  cases.map((one) => ({ group, ...one })),
);
