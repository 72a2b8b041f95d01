import type { Instant } from '../../clock.ts';
import type { ToolExecution } from '../../state/tools/tool-execution.ts';
import type { InferenceRun } from './infer.ts';
import type { LoopParts, RunParts } from './loop-parts.ts';
import type { HookedRun } from './run-hooks.ts';

/** The part of a run that tool executions use. */
export interface ToolRun
  extends
    Pick<HookedRun, 'state' | 'signals' | 'now' | 'raise' | 'checkAbort' | 'mayBegin'>,
    Pick<InferenceRun, 'hooks' | 'checkpointer' | 'emit'> {
  readonly loop: Pick<
    LoopParts,
    'tools' | 'hooks' | 'clock' | 'budget' | 'retry' | 'toolErrors' | 'maxParallelTools' | 'maxResultLength'
  >;
  readonly given: Pick<RunParts, 'listeners' | 'parent' | 'runContext' | 'session' | 'awaitReader'>;
  /** The seconds worked in this execution until now. */
  readonly workedSeconds: number;
  /** Records changed executions in the state. */
  record(toolExecutions: readonly ToolExecution[], at: Instant): void;
}
