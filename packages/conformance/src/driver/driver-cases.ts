import { abortCases } from './abort-cases.ts';
import { agentCases } from './agent-cases.ts';
import { conversationCases } from './conversation-cases.ts';
import type { DriverCase, DriverGroup, UngroupedDriverCase } from './driver-case.ts';
import { errorCases } from './error-cases.ts';
import { fileCases } from './file-cases.ts';
import { formatCases } from './format-cases.ts';
import { interruptionCases } from './interruption-cases.ts';
import { requestCases } from './request-cases.ts';
import { responseCases } from './response-cases.ts';

const grouped: readonly (readonly [DriverGroup, readonly UngroupedDriverCase[]])[] = [
  ['responses', responseCases],
  ['requests', requestCases],
  ['conversations', conversationCases],
  ['files', fileCases],
  ['formats', formatCases],
  ['errors', errorCases],
  ['interruptions', interruptionCases],
  ['aborts', abortCases],
  ['agents', agentCases],
];

/** The requirements on every driver, for any provider. The cases are plain data, which any test runner can run. */
export const driverCases: readonly DriverCase[] = grouped.flatMap(([group, cases]) =>
  cases.map((each) => ({ group, ...each })),
);
