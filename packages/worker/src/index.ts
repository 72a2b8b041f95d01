export { startWorker } from './serve/start-worker.ts';
export type { StartedWorker, WorkerOptions } from './serve/start-worker.ts';
export type { WorkerEngine } from './serve/worker-engine.ts';
export type { Log, LogFields, LogLevel } from './serve/log.ts';
