import { readOneOf } from '../../document.ts';
import type { Read } from '../../document.ts';

/**
 * How far an execution has got. `pending`: accepted, no worker yet. `suspended`: it waits, `waiting` says for what.
 * The last three are terminal.
 */
export type ExecutionStatus = 'pending' | 'inProgress' | 'suspended' | 'completed' | 'stopped' | 'failed';

export const EXECUTION_STATUSES: readonly ExecutionStatus[] = [
  'pending',
  'inProgress',
  'suspended',
  'completed',
  'stopped',
  'failed',
];

/** True for the statuses that end an execution. */
export function isTerminal(status: ExecutionStatus | undefined): boolean {
  return status === 'completed' || status === 'stopped' || status === 'failed';
}

/** Reads a status. */
export const readStatus: Read<ExecutionStatus> = readOneOf(EXECUTION_STATUSES);
