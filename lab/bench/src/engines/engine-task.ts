import type { AgentsTask } from './engine-agents.ts';

/** How a worker gets its work. */
export type EngineName =
  | 'no engine'
  | 'plain BullMQ'
  | 'BullmqEngine, 1 step'
  | 'BullmqEngine, 5 steps'
  | 'BullmqEngine, lanes';

export const ENGINE_NAMES: readonly EngineName[] = [
  'no engine',
  'plain BullMQ',
  'BullmqEngine, 1 step',
  'BullmqEngine, 5 steps',
  'BullmqEngine, lanes',
];

/** The names of engines that are a `BullmqEngine`, with the steps of a turn. */
export const STEPS_PER_TURN: Readonly<Partial<Record<EngineName, number>>> = {
  'BullmqEngine, 1 step': 1,
  'BullmqEngine, 5 steps': 5,
  'BullmqEngine, lanes': 1,
};

/** The work of a worker process. */
export interface WorkerTask {
  readonly engine: EngineName;
  readonly agents: AgentsTask;
  /** The URL of the store, and that of the queue. */
  readonly store: string;
  readonly queue: string;
  /** How many sessions it works on at the same time. */
  readonly concurrency: number;
  readonly lockSeconds: number;
  readonly stalledSeconds: number;
  /** True: reports the begin and the end of each advance. */
  readonly isVerbose?: boolean;
}

/** A request of the parent to a worker. */
export type WorkerOrder =
  | { readonly type: 'serve'; readonly sessionIds: readonly string[] }
  | { readonly type: 'limit'; readonly agent: string | undefined }
  | { readonly type: 'count' }
  | { readonly type: 'stop' };

/** A report of a worker. `at` is an instant with fractions of a millisecond. */
export type WorkerReport =
  | { readonly type: 'ready' | 'serving' }
  | { readonly type: 'began' | 'advanced' | 'finished'; readonly sessionId: string; readonly at: number }
  | { readonly type: 'failed'; readonly error: string }
  | { readonly type: 'counted'; readonly cpu: number; readonly answers: Readonly<Record<string, number>> }
  | { readonly type: 'stopped' };

/** The clock of the machine, finer than a millisecond: processes can be compared. */
export function instant(): number {
  return performance.timeOrigin + performance.now();
}

export const MESSAGE = 'Please echo.';
/** The name of the queue of plain BullMQ. */
export const PLAIN_QUEUE = 'plain';
