import type { EngineCase, EngineGroup, UngroupedEngineCase } from './case/engine-case.ts';
import { errorCases } from './advances/error-cases.ts';
import { failureCases } from './advances/failure-cases.ts';
import { groupCases } from './lanes/group-cases.ts';
import { laneCases } from './lanes/lane-cases.ts';
import { loadCases } from './advances/load-cases.ts';
import { momentCases } from './advances/moment-cases.ts';
import { outcomeCases } from './advances/outcome-cases.ts';
import { processCases } from './workers/process-cases.ts';
import { reopenCases } from './workers/reopen-cases.ts';
import { routeCases } from './lanes/route-cases.ts';
import { scheduleCases } from './lanes/schedule-cases.ts';
import { sessionCases } from './advances/session-cases.ts';
import { sharingCases } from './workers/sharing-cases.ts';
import { stopCases } from './workers/stop-cases.ts';
import { stopTimeCases } from './workers/stop-time-cases.ts';
import { suspectCases } from './advances/suspect-cases.ts';
import { wakeCases } from './advances/wake-cases.ts';

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
