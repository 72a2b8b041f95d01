import { readOneOf, type Read } from '../../document.ts';

/**
 * The status of an execution. `pending`: no worker has started it. `suspended`: it waits for the events in `waiting`.
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

/** True for a terminal status, with which an execution ends. */
export function isTerminal(status: ExecutionStatus | undefined): boolean {
  return status === 'completed' || status === 'stopped' || status === 'failed';
}

export const readStatus: Read<ExecutionStatus> = readOneOf(EXECUTION_STATUSES);
