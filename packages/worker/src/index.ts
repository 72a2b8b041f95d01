export { startWorker } from './start-worker.ts';
export type { StartedWorker, WorkerEngine, WorkerOptions } from './start-worker.ts';
export type { Log, LogFields, LogLevel } from './log.ts';
