import type { ClerkName } from './clerks.ts';

export interface CapacityTask {
  readonly store: string;
  readonly queue: string;
}

export type CapacityOrder =
  | { readonly type: 'fill'; readonly agentName: ClerkName; readonly from: number; readonly to: number }
  | { readonly type: 'count' | 'stop' };

export type CapacityReport =
  | { readonly type: 'serving' | 'filled' }
  /** `cpu`: milliseconds of CPU of the process. */
  | { readonly type: 'counted'; readonly cpu: number }
  /** `late`: milliseconds after the instant of its timer. */
  | { readonly type: 'woken'; readonly sessionId: string; readonly late: number }
  | { readonly type: 'finished'; readonly sessionId: string };

/** The id of a session of the bench. */
export function sessionIdOf(agentName: ClerkName, index: number): string {
  return `${agentName}-${index}`;
}
