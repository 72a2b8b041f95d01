import { startWorker } from '@holdfast/worker';
import { runtime, store } from './server.ts';

/** Finds the chats that a request has changed, and those of dead workers. */
await startWorker({ runtime, store, sweepSeconds: 0.1 });
