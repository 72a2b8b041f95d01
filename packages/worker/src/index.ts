export { startWorker } from './start-worker.ts';
export type { StartedWorker, WorkerOptions } from './start-worker.ts';
export type { WorkerEngine } from './worker-engine.ts';
export type { Log, LogFields, LogLevel } from './log.ts';
