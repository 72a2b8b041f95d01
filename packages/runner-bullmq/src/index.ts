export { BullmqEngine } from './bullmq-engine.ts';
export type { BullmqEngineOptions } from './bullmq-engine.ts';
export type { BullmqConnection } from './server/connection.ts';
export type { BullmqLaneLimits, LaneRate } from './layout/lane-limits.ts';
export type { QueueReport } from './server/queue-report.ts';
