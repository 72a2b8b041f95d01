import type { EngineMetrics, ExecutionEngine, LaneBacklog } from '@holdfast/core/engine';

/** An engine that a worker can serve with. Metrics are shown when the engine has them. */
export interface WorkerEngine extends ExecutionEngine {
  /** The seconds between two sweeps, unless the options of the worker set them; `false` for none. Default: 60. */
  readonly sweepSeconds?: number | false;
  /** Returns the counters of the engine. */
  metrics?(): EngineMetrics;
  /** Returns what waits in each lane of the queue. */
  backlog?(): Promise<readonly LaneBacklog[] | undefined>;
}
