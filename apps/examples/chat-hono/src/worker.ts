import { startWorker } from '@holdfast/worker';
import { runtime, store } from './runtime.ts';

/** Finds the chats that another process has changed, and those of dead workers. */
export const { engine } = await startWorker({ runtime, store, sweepSeconds: 0.2 });
